//! Recognises the names of secrets: environment variables that `env.inherit: safe` holds back, and arguments whose
//! values are not logged.

/// Words of a name that make it the name of a secret.
const SECRET_WORDS: [&str; 8] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
];

/// Names of secrets that have none of these words.
const SECRET_NAMES: [&str; 10] = [
    "AUTHORIZATION",
    "PROXY_AUTHORIZATION",
    "COOKIE",
    "PGPASSWORD",
    "MYSQL_PWD",
    "SSHPASS",
    "GH_PAT",
    "GITHUB_PAT",
    "DOCKER_AUTH_CONFIG",
    "NPM_CONFIG__AUTH",
];

/// Whether a name looks like that of a secret: one of its words, which are separated by `_` or `-`, is `TOKEN`,
/// `SECRET`, `PASSWORD`, `PASSWD`, `PASSPHRASE`, `APIKEY`, `CREDENTIAL` or `CREDENTIALS`, its last word of several is
/// `KEY`, or it is in a list of further names. Case does not matter.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    name.ends_with("_KEY")
        || SECRET_NAMES.contains(&name.as_str())
        || name.split('_').any(|word| SECRET_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised_by_their_words() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SESSION_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "SECRET",
            "DB_PASSWORD_FILE",
            "GPG_PASSPHRASE",
            "OPENAI_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "npm_config__auth",
            "Authorization",
            "x-api-key",
            "PGPASSWORD",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "SSH_AUTH_SOCK",
            "XAUTHORITY",
            "GIT_AUTHOR_NAME",
            "AWS_PROFILE",
            "AWS_ACCESS_KEY_ID",
            "SSH_ASKPASS",
            "KEY",
            "MONKEY",
            "KEYBOARD_LAYOUT",
            "TOKENIZERS_PARALLELISM",
            "SECRETARY",
            "PATH",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
