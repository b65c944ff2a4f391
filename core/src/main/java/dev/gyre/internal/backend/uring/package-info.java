/// The Linux io_uring backend.
@NullMarked
package dev.gyre.internal.backend.uring;

import org.jspecify.annotations.NullMarked;
