/// The implementation of `dev.gyre.os`: child processes, signals, file watching, standard input and
/// the terminal.
@NullMarked
package dev.gyre.internal.os;

import org.jspecify.annotations.NullMarked;
