/// What `gyre serve` is made of: the loops it runs on, what they answer, and what is known of them.
@NullMarked
package dev.gyre.cli.serve;

import org.jspecify.annotations.NullMarked;
