/// The backends of the loop: `Backend` polls, wakes and registers, `OperationEngine` executes
/// operations.
@NullMarked
package dev.gyre.internal.backend;

import org.jspecify.annotations.NullMarked;
