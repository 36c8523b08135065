//! Bakes the fixtures, without and with a policy, the configs of real programs, and random tools.

mod random_tools;

use std::env;
use std::fs;
use std::path::PathBuf;

use climax_codegen::{Bake, bake};

fn main() {
    // Without this feature there is no server to bake for.
    if env::var_os("CARGO_FEATURE_PROGRAMS").is_none() {
        return;
    }
    bake("fixtures/configs");
    Bake::new("fixtures/configs")
        .policy("fixtures/guarded.yaml")
        .output("guarded.rs")
        .run();
    Bake::new("fixtures/programs").output("programs.rs").run();
    Bake::new(&write_random_configs()).output("random.rs").run();
}

/// Writes the configs of random tools to a folder, and returns its path.
fn write_random_configs() -> String {
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    let folder = output.join("random");
    fs::create_dir_all(&folder).expect("the folder can be created");
    for (number, config) in random_tools::configs().iter().enumerate() {
        let path = folder.join(format!("random_{number}.yaml"));
        // JSON is YAML, except that the keys of a pair of flags are booleans, which JSON cannot express.
        let yaml = config.to_string();
        let yaml = yaml.replace("\"true\":", "true: ");
        let yaml = yaml.replace("\"false\":", "false: ");
        fs::write(path, yaml).expect("the config can be written");
    }
    folder
        .into_os_string()
        .into_string()
        .expect("the path is UTF-8")
}
