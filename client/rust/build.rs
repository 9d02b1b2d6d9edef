//! Generates the messages and stubs from the .proto files, without protoc.

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // A published crate carries a copy of the protos; in the repository they are beside the clients.
    let protos = ["protos", "../../protos"]
        .map(Path::new)
        .into_iter()
        .find(|folder| folder.is_dir())
        .ok_or("neither protos nor ../../protos is there")?;
    let folder = protos.join("svddtune/v1");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=googleapis");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path);
        }
    }
    files.sort();
    let set = protox::compile(&files, [protos, Path::new("googleapis")])?;
    tonic_prost_build::configure()
        .build_server(false)
        .extern_path(".google.rpc.Status", "::tonic_types::Status")
        .compile_fds(set)?;
    Ok(())
}
