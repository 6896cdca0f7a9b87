//! Predictions in WebAssembly have the figures of those on this machine, bit for bit.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use std::process::Command;

#[path = "../examples/wasm.rs"]
mod example;

/// Names the module that `scripts/wasm` has built.
const MODULE: &str = "PROOFLOAD_WASM";

const RUN: &str = "
const bytes = require('fs').readFileSync(process.argv[1]);
WebAssembly.instantiate(bytes).then(({ instance: { exports } }) => {
    const length = exports.compute();
    const text = new Uint8Array(exports.memory.buffer, exports.address(), length);
    require('fs').writeSync(1, text);
});
";

#[test]
fn figures_are_those_of_this_machine() {
    let Some(module) = std::env::var_os(MODULE) else {
        return test_support::skip("scripts/wasm builds the module for it");
    };
    let output = Command::new("node").arg("-e").arg(RUN).arg(module).output();
    let Ok(output) = output else {
        return test_support::skip("node is missing");
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let (there, here) = (
        String::from_utf8(output.stdout).unwrap(),
        example::figures(),
    );
    assert!(here.contains("achieved_iops"), "{here}");
    for (there, here) in there.lines().zip(here.lines()) {
        assert_eq!(there, here);
    }
    assert_eq!(there.len(), here.len());
}
