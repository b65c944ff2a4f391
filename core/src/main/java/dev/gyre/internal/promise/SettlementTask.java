package dev.gyre.internal.promise;

/// A priority task of the loop's own, without user code: it runs also when the loop is closed and drops the
/// tasks of others, for somebody may be waiting for it.
public interface SettlementTask extends Runnable {}
