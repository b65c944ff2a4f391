package dev.gyre.internal.loop;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.RequestHost;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.OperationHost;
import dev.gyre.internal.io.WatchHost;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.promise.PromiseHost;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.time.LoopClock;
import dev.gyre.internal.time.TimerHost;
import dev.gyre.internal.time.TimerQueue;

/// What a loop is made of, put together once. [Tick], [Shutdown] and [Loop] take from it what they use.
final class Parts {
    final LoopConfig config;
    final Backend backend;
    final EventLoop loop;
    final StateCell state = new StateCell();
    final StopRequest stop = new StopRequest();
    final RunLimits bounds = new RunLimits();
    final TaskRing deferred = new TaskRing("deferred callbacks");
    final Ingress ingress;
    final Poller sleep;
    final LoopClock clock;
    final TimerQueue timers;
    final Watchers watchers;
    final OperationEngine requests;
    final LoopOperations operations;
    final IoDispatcher dispatch;
    final OwnedResources belongings = new OwnedResources();
    final FailureHandler failures;
    final Callbacks callbacks;
    final Confinement confinement;
    final Promises promises;
    final Microtasks microtasks;

    <H extends TimerHost & WatchHost & PromiseHost & RequestHost & OperationHost> Parts(
            LoopConfig config, Backend backend, EventLoop loop, H host) {
        this.config = config;
        this.backend = backend;
        this.loop = loop;
        ingress = new Ingress(state, backend, config.highWaterMark());
        sleep = new Poller(state, ingress, backend, stop);
        clock = new LoopClock(backend::nanoTime);
        timers = new TimerQueue(host, backend.nanoTime());
        watchers = new Watchers(backend, host);
        requests = backend.openOperations(host);
        operations = new LoopOperations(host, requests, backend.syscalls(), config);
        dispatch = new IoDispatcher(backend, requests);
        failures = new FailureHandler(config);
        callbacks = new Callbacks(failures, config.observer(), loop);
        confinement = new Confinement(config.name());
        TaskRing queued = new TaskRing("microtasks");
        promises = new Promises(host, confinement, queued, config.promiseTracing());
        microtasks =
                new Microtasks(queued, callbacks, promises.unhandled, config.microtaskBudget());
    }
}
