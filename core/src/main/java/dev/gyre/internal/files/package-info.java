/// Watching files: inotify's stream of events, and what each means to those who watch.
@NullMarked
package dev.gyre.internal.files;

import org.jspecify.annotations.NullMarked;
