package dev.gyre.metrics;

import java.time.Duration;

/// What a loop runs at the moment.
///
/// @param kind the kind of callback
/// @param description for a connection its id, peer and activity, such as
///     `connection 42 from 127.0.0.1:5000, GET /users/{id}`; otherwise the first stack frame of the
///     program, such as `com.acme.Job.run(Job.java:12)`. Empty if unknown
/// @param elapsed how long it has run; in a burst of tasks, how long the burst has run
public record RunningCallback(CallbackKind kind, String description, Duration elapsed) {}
