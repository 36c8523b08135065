//! Playlists under the name of a video that let ffmpeg read other files.

use std::fs;
use std::process::Command;

use climax_tests::{Folder, Server, is_installed, run};
use serde_json::json;

use super::{HostileProject, Trap, check_values};
use crate::climax;
use crate::programs::silence;

#[test]
fn a_playlist_under_the_name_of_a_video_reads_no_other_file() {
    if !is_installed("ffmpeg") {
        return;
    }
    let (project, outside, trap) = (Folder::new(), Folder::new(), Trap::new());
    fs::write(project.path().join("sound.wav"), silence()).expect("a file");
    let secret = outside.path().join("secret.mp4");
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.current_dir(project.path());
    run(ffmpeg.args(["-nostdin", "-i", "sound.wav"]).arg(&secret));
    let write = |path: &str, text: &str| {
        fs::write(project.path().join(path), text).expect("a file");
    };
    let segments = |address: &str| {
        format!("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{address}\n#EXT-X-ENDLIST\n")
    };
    write("clip.mp4", &segments(secret.to_str().expect("UTF-8")));
    std::os::unix::fs::symlink(&secret, project.path().join("link.mp4")).expect("a link");
    write("list.mp4", "ffconcat version 1.0\nfile link.mp4\n");

    for source in ["clip.mp4", "list.mp4"] {
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.current_dir(project.path());
        let copy = outside.path().join("copy.flac");
        let output = run(ffmpeg.args(["-nostdin", "-y", "-i", source]).arg(copy));
        assert!(
            output.status.success(),
            "ffmpeg reads the sound of {source}"
        );
    }

    let mut command = climax();
    command.current_dir(project.path());
    let mut server = Server::start(&mut command);
    let mut hostile = HostileProject {
        server: &mut server,
        cli: "ffmpeg",
        path: project.path(),
        trap: &trap,
        secret: "duration\":",
    };
    hostile.call_read_tools(&[]);
    let words = [
        "list.mp4",
        "concat:sound.wav|link.mp4",
        "%d.wav",
        "-",
        "pipe:0",
        "-f",
    ];
    hostile.call_read_tools_with_words(&words);
    for source in ["clip.mp4", "list.mp4", "sound.wav"] {
        let destination = outside.path().join(source).with_extension("flac");
        let arguments =
            json!({"directory": project.text(), "source": source, "destination": destination});
        let response = server.call("ffmpeg_convert", &arguments);
        assert_eq!(
            response.is_error,
            source != "sound.wav",
            "{source}: {response:?}"
        );
    }
}

#[test]
fn files_of_ffmpeg_are_neither_series_nor_protocols_nor_playlists() {
    for tool in [
        "ffmpeg_convert",
        "ffmpeg_cut",
        "ffmpeg_extract_audio",
        "ffmpeg_picture",
    ] {
        let refused = ["pipe:0", "a|b:c", "%d.png", "-"].map(|path| json!(path));
        check_values(tool, "source", &[json!("a b.mkv"), json!("../x")], &refused);
        let refused = ["tee:a.mp3", "a.m3u8", "a.mpd", "-", "a.sdp", "a"].map(|path| json!(path));
        let accepted = [json!("out/a b.mp3"), json!("a-%03d.png"), json!("a.jpeg")];
        check_values(tool, "destination", &accepted, &refused);
    }
}

/// YAML cannot share a part of a command.
#[test]
fn ffmpeg_and_ffprobe_admit_the_same_formats() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/ffmpeg.yaml");
    let config = fs::read_to_string(path).expect("a config");
    let lists: Vec<&str> = config
        .split("-format_whitelist ")
        .filter_map(|rest| rest.split_whitespace().next())
        .filter(|list| list.starts_with("mov,"))
        .collect();
    assert!(lists.len() == 2 && lists[0] == lists[1], "{lists:?}");
}
