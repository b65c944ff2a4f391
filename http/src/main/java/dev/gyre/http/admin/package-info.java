/// The admin address of a process: metrics, connections, stalls and traces over HTTP.
@NullMarked
package dev.gyre.http.admin;

import org.jspecify.annotations.NullMarked;
