/// Entry points for fuzzers that call `fuzzerTestOneInput(byte[])`, as Jazzer does. What they throw is a finding.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.fuzz;
