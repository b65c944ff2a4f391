/// Stress tests (jcstress) of what threads share. Each test is a class with two actors, which jcstress
/// runs against each other millions of times, and with the results that may come of it; every other
/// result fails the build.
///
/// **Two actors, always.** jcstress leaves out, without a word in its exit status, each test that has more
/// actors than the machine has processors. So where three parties meet, the third is what the state was
/// built with, or an actor plays two roles in turn, as a loop thread does that submits to itself.
///
/// **Waiting.** An actor may wait for the other: both go through the same states in the same order, so the
/// other will come.
///
/// Tests of package-private classes lie in the packages of those classes.
@NullMarked
package dev.gyre.stress;

import org.jspecify.annotations.NullMarked;
