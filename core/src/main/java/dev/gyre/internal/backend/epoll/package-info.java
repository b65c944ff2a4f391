/// The Linux epoll backend.
@NullMarked
package dev.gyre.internal.backend.epoll;

import org.jspecify.annotations.NullMarked;
