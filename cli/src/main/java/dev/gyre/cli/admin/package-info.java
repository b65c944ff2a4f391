/// The clients of a server's admin address: what `gyre top` and `gyre trace` request and show.
@NullMarked
package dev.gyre.cli.admin;

import org.jspecify.annotations.NullMarked;
