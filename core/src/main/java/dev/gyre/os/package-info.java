/// The operating system on the loop: pipes, signals, child processes, changes of files, standard input.
@NullMarked
package dev.gyre.os;

import org.jspecify.annotations.NullMarked;
