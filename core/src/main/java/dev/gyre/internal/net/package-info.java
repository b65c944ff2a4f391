/// Sockets as users know them: how they are set up, how they come to be connected, and messages.
@NullMarked
package dev.gyre.internal.net;

import org.jspecify.annotations.NullMarked;
