/// The kqueue backend of macOS and FreeBSD.
@NullMarked
package dev.gyre.internal.backend.kqueue;

import org.jspecify.annotations.NullMarked;
