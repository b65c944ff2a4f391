package dev.gyre.internal.loop;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.base.TraceRecorder;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.time.LoopClock;
import dev.gyre.internal.time.TimerQueue;

/// The components of a loop, wired once. [Tick], [Shutdown], [RunControl] and [Loop] keep those
/// they use.
final class LoopComponents {
    final LoopConfig config;
    final Backend backend;
    final StateCell state = new StateCell();
    final RunLimits limits = new RunLimits();
    final TaskRing deferred = new TaskRing("deferred callbacks");
    final Ingress ingress;
    final Poller poller;
    final LoopClock clock;
    final TimerQueue timers;
    final Watchers watchers;
    final OperationEngine requests;
    final LoopOperations operations;
    final IoDispatcher dispatcher;
    final TraceRecorder trace;
    final Callbacks callbacks;
    final LoopTimings timings;
    final Confinement confinement;
    final Promises promises;
    final Microtasks microtasks;

    LoopComponents(LoopConfig config, Backend backend, EventLoop loop, LoopContext context) {
        this.config = config;
        this.backend = backend;
        ingress = new Ingress(state, backend, config.highWaterMark());
        poller = new Poller(state, ingress, backend, limits);
        clock = new LoopClock(backend::nanoTime);
        timers = new TimerQueue(context, backend.nanoTime());
        watchers = new Watchers(backend, context);
        requests = backend.openOperations(context);
        operations = new LoopOperations(context, requests, backend.syscalls(), config);
        dispatcher = new IoDispatcher(backend, requests);
        trace = new TraceRecorder(config.name(), clock::nanos, backend::nanoTime);
        callbacks = new Callbacks(config, loop, trace);
        timings = new LoopTimings(backend, callbacks.all, config.name());
        confinement = new Confinement(config.name());
        TaskRing queued = new TaskRing("microtasks");
        promises = new Promises(context, confinement, queued, config.promiseTracing());
        microtasks =
                new Microtasks(queued, callbacks, promises.unhandled, config.microtaskBudget());
    }
}
