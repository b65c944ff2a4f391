/// Measurements of loop groups.
@NullMarked
package dev.gyre.bench.group;

import org.jspecify.annotations.NullMarked;
