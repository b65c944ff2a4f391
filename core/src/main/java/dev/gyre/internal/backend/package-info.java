/// What the loop asks of a kernel: wait, wake, register. One small package a backend.
@NullMarked
package dev.gyre.internal.backend;

import org.jspecify.annotations.NullMarked;
