/*
 * shutdown.pml - close against submit, start, sleep and drain.
 *
 * One loop thread, one or two external producers, one priority producer, two
 * threads that both call shutdown, and an environment that may end the wait for
 * other reasons. The loop begins AWAKE, so shutdown meets it in every possible
 * state.
 *
 * A drain runs the ticks of the loop, and sleeps by the same protocol. Its sleep
 * has its own state, DRAINING_ASLEEP, which users see as TERMINATING. The drain
 * may await the priority producer, as it awaits work on other threads: the
 * result of that work is a priority task. The second caller may close the loop,
 * which makes the deadline of the drain pass.
 *
 * Memory is sequentially consistent here, with one shared access per step. The
 * protocol's only store->load races are those of sleep.pml. Everything else in
 * the close is a compareAndSet on one cell (state, tail) or happens under a
 * lock (PriorityLane.lock, Wakeup.lock).
 *
 * Corresponding Java code:
 *     set_state, cas      internal.loop.StateCell            move, fallAsleep,
 *                                                            awake, terminated
 *     Loop                internal.loop.RunControl, Tick     enter, run, leave
 *       announce, check   internal.loop.Poller               pollUntil
 *     drain               internal.loop.Shutdown, Tick       drain, run
 *     hurried             internal.loop.RunLimits            expire, isTimeUp
 *     External            internal.loop.ExternalLane         offer, poll, close
 *     Priority            internal.loop.PriorityLane         offer, poll, close
 *     wake                internal.loop.Ingress              wakeIfAsleep
 *     write_eventfd       internal.backend.Wakeup            signal, close
 *     Shutdown, terminate internal.loop.Shutdown             begin, run
 *
 * Properties (letters as in README.md). Each is a variable named after the
 * failure, so that the verifier's message names it:
 *     lost_wake_up   (a)     run_twice      (b)     overtaken      (c)
 *     two_signals    (d)     needless_write (e)     overwritten    (f)
 *     left_behind    (g) accepted, but not run when done
 *     ran_rejected   (g) run, though rejected or not yet accepted
 *     late_accept    (g) accepted after done
 *     write_closed   (h)
 *     ltl ends       (i), and "invalid end state" for a thread that hangs
 *
 * Mutants (-D...), which Spin must detect:
 *     STORE_RUNNING  NO_CLOSED_BIT  ACCEPT_OUTSIDE_LOCK  CLOSE_WITHOUT_LOCK
 *     NO_CLOSED_CHECK  NO_SHUTDOWN_WAKE  STORE_TERMINATING  SKIP_UNFILLED
 *     TERMINATED_OUTSIDE_LOCK  NO_FINAL_DRAIN  CHECK_AFTER_APPEND
 *     START_BY_STORE  NO_CLOSE_WHEN_AWAKE  LOOP_DOES_NOT_CLOSE
 *     IGNORE_CLOSED_BIT with LOOP_DOES_NOT_CLOSE
 *     DRAIN_NOT_ANNOUNCED  DRAIN_CHECKS_FIRST  NO_CLEAR_IN_DRAIN
 *     HURRY_WITHOUT_WAKE  AWAKE_AFTER_DRAIN_BY_RUNNING
 * Variants, which must hold:
 *     ONE_ROUND  LANE_FLAG  BOUNDED_RUNS  IGNORE_CLOSED_BIT  HURRY_NOT_CHECKED
 *     SHUTDOWN_ONE_STEP with IO_FOREVER  ONE_ROUND with RESUBMIT
 * Limits of the protocol, which Spin must find (see README.md):
 *     IO_FOREVER  PRODUCER_DIES  CALLER_DIES  RESUBMIT
 */

/* internal.loop.StateCell: the numbers are those of the Java class. */
#define AWAKE       0
#define TERMINATED  1
#define SLEEPING    2
#define TERMINATING 3
#define RUNNING     4
#define DRAINING_ASLEEP 6

#define ASLEEP(state) (state == SLEEPING || state == DRAINING_ASLEEP)
#define SHUTTING_DOWN(state) \
    (state == TERMINATING || state == DRAINING_ASLEEP || state == TERMINATED)

#ifndef TASKS_A
#define TASKS_A 1
#endif
#ifndef TASKS_B
#define TASKS_B 0
#endif
#ifndef TASKS_P
#define TASKS_P 1
#endif
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef IO
#define IO 1                    /* returns of epoll_wait for other reasons  */
#endif

#define A 0                     /* external producer                        */
#define B 1                     /* external producer                        */
#define P 2                     /* priority producer                        */
#define PRODUCERS 3
#define SLOTS (TASKS_A + TASKS_B)

#define TASK(p, n)   (1 + (p) * 4 + (n))
#define OWNER(task)  (((task) - 1) / 4)
#define NUMBER(task) (((task) - 1) % 4)

byte state = AWAKE;             /* StateCell.state                          */

byte tail;                      /* ExternalLane.tail: the ticket number ... */
bool closed;                    /* ... and the closed bit of the same word  */
byte head;                      /* ExternalLane.head: the draining thread   */
byte slot[SLOTS + 1];           /* ExternalLane slots; the last stays empty */

bool lane_lock;                 /* PriorityLane.lock                        */
bool lane_closed;               /* PriorityLane.closed, used with LANE_FLAG */
byte list[TASKS_P + 1];         /* PriorityLane list, guarded by the lock   */
byte size;                      /* PriorityLane.size, also read without it  */

bool pending;                   /* Wakeup.pending                           */
bool wake_lock;                 /* Wakeup.lock                              */
bool wake_closed;               /* Wakeup.closed                            */

bool edge;                      /* kernel: eventfd is on epoll's ready list */
bool io;                        /* kernel: another reason to return         */
bool fd_closed;                 /* kernel: the eventfd's number is free     */

bool hurried;                   /* RunLimits.expired: the deadline is past  */
bool awaits;                    /* the drain awaits all priority tasks      */
bool done;                      /* the future that shutdown returns         */

/* Ghost variables: only for the properties, with no counterpart in Java. */
byte accepted[PRODUCERS];       /* number of accepted tasks; a prefix       */
byte expected[PRODUCERS];       /* next number to run, per producer         */
byte waking;                    /* threads that owe the loop a wake-up      */
byte signalling;                /* won pending.getAndSet, not yet written   */
byte taken;                     /* edge reported, pending not yet cleared   */
bool blocked;                   /* the loop is committed to epoll_wait      */

bool lost_wake_up, run_twice, overtaken, two_signals, needless_write;
bool overwritten, left_behind, ran_rejected, late_accept, write_closed;

#define never_if(condition, name) \
    if :: (condition) -> name = true :: else fi; assert(!name)

/* ----------------------------------------------------------- StateCell -- */

/* Performs every write of the state, by store or by compareAndSet. */
inline set_state(to)
{
    never_if(state == TERMINATED ||
             (state == TERMINATING && to != TERMINATED && to != DRAINING_ASLEEP) ||
             (state == DRAINING_ASLEEP && to != TERMINATING),
             overwritten);
    state = to
}

/* StateCell.move, a strong compareAndSet: it never fails spuriously. */
#define cas(from, to, otherwise)                \
    atomic {                                    \
        if                                      \
        :: state == from -> set_state(to)       \
        :: else          -> goto otherwise      \
        fi                                      \
    }

/* -------------------------------------------------------------- Wakeup -- */

/* Wakeup.signal: under the wake lock, and not after the close. A write that
 * is retried after EINTR is a later write, so it has no separate step.
 * `seen` is the state that the thread saw; `tokens` is 1 if it set pending. */
inline write_eventfd(seen, tokens)
{
    atomic { !wake_lock -> wake_lock = true }
    if
#ifndef NO_CLOSED_CHECK
    :: wake_closed -> d_step { signalling = signalling - tokens; waking-- }
    :: else ->
#else
    :: true ->
#endif
        d_step {
            never_if(fd_closed, write_closed);
            never_if(!ASLEEP(seen), needless_write);
            edge = true; signalling = signalling - tokens; waking--
        }
    fi;
    wake_lock = false
}

/* Ingress.wakeIfAsleep, after the fence: the state, then the flag, then the write. */
inline wake()
{
    atomic {
        saw = state;
        if
#ifdef DRAIN_NOT_ANNOUNCED
        :: saw == SLEEPING -> skip
#else
        :: ASLEEP(saw) -> skip
#endif
        :: else        -> saw = AWAKE; waking--; goto next
        fi
    }
    atomic {
        if
        :: !pending -> pending = true; signalling++
        :: else     -> saw = AWAKE; waking--; goto next
        fi
    }
    write_eventfd(saw, 1);
    saw = AWAKE
}

/* ----------------------------------------------------------- producers -- */

inline accept(who)
{
    never_if(done, late_accept);
    accepted[who] = accepted[who] + 1
}

proctype External(byte who; byte tasks)
{
    byte n, ticket, saw;

next:
    if
    :: n < tasks ->
#ifdef ASK_STATE_FIRST
        /* Ingress.submit. Only an early check: it may be stale at once. */
        if
        :: SHUTTING_DOWN(state) -> goto refused
        :: else
        fi;
#endif
        /* ExternalLane.offer, the ticket: number and closed bit are one word,
         * so a ticket is either before the close or refused. */
#ifdef NO_CLOSED_BIT
        if
        :: closed -> goto refused
        :: else
        fi;
        d_step { ticket = tail; tail++; accept(who) }
#else
        atomic {
            if
            :: closed -> goto refused
            :: else   -> ticket = tail; tail++; accept(who)
            fi
        }
#endif
#ifdef PRODUCER_DIES
        if :: skip :: goto refused fi;
#endif
        /* ExternalLane.offer, the fill: with its fence (see sleep.pml). */
        d_step { slot[ticket] = TASK(who, n); waking++; ticket = 0; n++ }
        wake();
        goto next
    :: else
    fi;
refused:
    skip
}

/* The priority lane rejects by the state itself, stored under the lane's lock,
 * or by a flag of the lane, set under its lock after the state. */
#ifdef LANE_FLAG
#define LANE_IS_CLOSED lane_closed
#else
#define LANE_IS_CLOSED (state == TERMINATED)
#endif

proctype Priority(byte who; byte tasks)
{
    byte n, saw;
    bool refuse;

next:
    if
    :: n < tasks ->
        /* PriorityLane.offer: check and append under one lock. */
#ifdef CHECK_AFTER_APPEND
        d_step {
            !lane_lock -> list[size] = TASK(who, n); size++; waking++
        }
        atomic {
            if
            :: LANE_IS_CLOSED -> waking--; goto refused
            :: else           -> accept(who); n++
            fi
        }
#else
#ifdef ACCEPT_OUTSIDE_LOCK
        refuse = LANE_IS_CLOSED;
        atomic { !lane_lock -> lane_lock = true }
#else
        atomic { !lane_lock -> lane_lock = true }
        refuse = LANE_IS_CLOSED;
#endif
        if
        :: refuse -> lane_lock = false; goto refused
        :: else ->
            d_step {
                list[size] = TASK(who, n); size++; accept(who);
                waking++; n++; lane_lock = false
            }
        fi;
#endif
        wake();
        goto next
    :: else
    fi;
refused:
    skip
}

/* ------------------------------------------------------------ the lanes -- */

inline execute(task)
{
    never_if(NUMBER(task) >= accepted[OWNER(task)], ran_rejected);
    never_if(NUMBER(task) < expected[OWNER(task)], run_twice);
    never_if(NUMBER(task) > expected[OWNER(task)], overtaken);
    expected[OWNER(task)] = NUMBER(task) + 1
}

/* PriorityLane.poll: a read of size, then the whole list under the lock. */
inline drain_priority(some)
{
    if
    :: size == 0
    :: else ->
        d_step {
            !lane_lock ->
            i = 0;
            do
            :: i < size -> execute(list[i]); list[i] = 0; i++
            :: else     -> break
            od;
            size = 0; i = 0; some = true;
#ifdef RESUBMIT
            /* The task submits itself again, until it is rejected. */
            if
            :: state == TERMINATING ->
                expected[P] = 0; size = 1; list[0] = TASK(P, 0)
            :: else
            fi
#endif
        }
    fi
}

inline take_slot()
{
    execute(slot[head]);
    slot[head] = 0;
    head++
}

/* --------------------------------------------------------- termination -- */

/* ExternalLane.close: the closed bit, by compareAndSet; idempotent. */
inline close_lane() { closed = true }

/* Whether the external lane is empty for good. Claimed tickets will be filled,
 * so the thread waits for them. */
#ifdef SKIP_UNFILLED
#define LANE_IS_DONE (slot[head] == 0 && closed)
#elif defined(IGNORE_CLOSED_BIT)
#define LANE_IS_DONE (head == tail)
#else
#define LANE_IS_DONE (closed && head == tail)
#endif

/* The drain, by the loop thread: Tick.run in its draining mode, until nothing is
 * queued or awaited, or until time is up.
 *
 * Here and below, a locked section that is invisible to other threads is one
 * step: it waits for the lock and does its work. */
inline drain()
{
#ifndef LOOP_DOES_NOT_CLOSE
    close_lane();
#endif
    do
    ::  if :: hurried -> break :: else fi;
        some = false;
        drain_priority(some);
        do
        :: d_step { slot[head] != 0 -> take_slot() }
        :: slot[head] == 0 -> break
        od;
        if
#ifdef ONE_ROUND
        :: LANE_IS_DONE && (!awaits || expected[P] == TASKS_P) -> break
#else
        :: LANE_IS_DONE && size == 0 && (!awaits || expected[P] == TASKS_P) -> break
#endif
        :: else
        fi;

        /* Poller.pollUntil, as below. */
#ifdef DRAIN_CHECKS_FIRST
        if :: slot[head] != 0 || size != 0 || hurried -> goto awake :: else fi;
        atomic { set_state(DRAINING_ASLEEP) }
        blocked = true;
#else
        atomic { set_state(DRAINING_ASLEEP) }
        if :: slot[head] != 0 -> goto awake :: else fi;
#ifndef HURRY_NOT_CHECKED
        if :: hurried         -> goto awake :: else fi;
#endif
        if :: size != 0       -> goto awake :: else -> blocked = true fi;
#endif
        atomic {
            if
            :: edge -> edge = false; reported = true; taken = 1
#ifdef LIVENESS
            :: io   -> io = false
#else
            :: true -> skip
#endif
            fi;
            blocked = false
        }
awake:
#ifdef AWAKE_AFTER_DRAIN_BY_RUNNING
        atomic { set_state(RUNNING) }
#else
        atomic { if :: state == DRAINING_ASLEEP -> set_state(TERMINATING) :: else fi }
#endif
        clear_in_drain()
    od;
    some = false
}

/* Wakeup.drained: the I/O step of the drain dispatches the event. */
inline clear_in_drain()
{
    if
    :: reported ->
#ifdef NO_CLEAR_IN_DRAIN
        reported = false
#else
        d_step { pending = false; taken = 0; reported = false }
#endif
    :: else
    fi
}

/* From the drain to the end, by the loop thread - or by the caller of shutdown,
 * if no thread runs the loop. Removes from the external lane the tasks that a
 * drain past its deadline has left. */
inline terminate()
{
#ifndef LOOP_DOES_NOT_CLOSE
    close_lane();
#endif
    do
    :: d_step { slot[head] != 0 -> take_slot() }
    :: LANE_IS_DONE -> break
    od;

    /* TERMINATED, and no more priority tasks: PriorityLane.close. */
#ifdef TERMINATED_OUTSIDE_LOCK
    atomic { set_state(TERMINATED) }
#elif defined(LANE_FLAG)
    atomic { set_state(TERMINATED) }
    d_step { !lane_lock -> lane_closed = true }
#else
    atomic { !lane_lock -> set_state(TERMINATED) }
#endif

    /* Final drain of both. */
#ifndef NO_FINAL_DRAIN
    do
    :: d_step { slot[head] != 0 -> take_slot() }
    :: slot[head] == 0 -> break
    od;
    drain_priority(some);
#endif
    some = false;

    /* epoll is closed first, because nothing refers to it any more. Then the
     * eventfd, under the wake lock: Wakeup.close. */
#ifdef CLOSE_WITHOUT_LOCK
    wake_closed = true;
    d_step { fd_closed = true; edge = false }
#else
    d_step { !wake_lock -> wake_closed = true; fd_closed = true; edge = false }
#endif

    d_step {
        never_if(expected[A] != accepted[A] || expected[B] != accepted[B] ||
                 expected[P] != accepted[P], left_behind);
        done = true
    }
}

/* Backend.wake, in any state: pending, then the write. */
inline wake_anyway()
{
    atomic {
        if
        :: !pending -> pending = true; signalling++
        :: else     -> waking--; goto over
        fi
    }
    write_eventfd(SLEEPING, 1)
}

/* Shutdown.begin, by any thread, any number of times. StateCell decides which
 * is first, by a compareAndSet that is tried from one state after the other. A
 * later caller closes the loop, or only awaits the outcome. */
proctype Shutdown()
{
    byte was, i;
    bool some;

again:
#ifndef SHUTDOWN_ONE_STEP
    atomic {
        was = state;
        if
        :: SHUTTING_DOWN(was) -> goto later
        :: else
        fi
    }
#endif
    atomic {
#ifdef SHUTDOWN_ONE_STEP
        was = state;
        if
        :: SHUTTING_DOWN(was) -> goto later
        :: else
        fi;
#elif !defined(STORE_TERMINATING)
        if
        :: state != was -> was = 0; goto again
        :: else
        fi;
#endif
        set_state(TERMINATING);
#ifndef NO_SHUTDOWN_WAKE
        if :: was == SLEEPING -> waking++ :: else fi
#endif
    }
#ifdef CALLER_DIES
    if :: skip :: goto over fi;
#endif
    if
    :: was == AWAKE ->
        /* No thread will run the loop: the caller cleans up. */
#ifndef NO_CLOSE_WHEN_AWAKE
        close_lane();
#endif
        terminate();
        goto over
    :: else -> close_lane()
    fi;
#ifndef NO_SHUTDOWN_WAKE
    if
    :: was == SLEEPING -> wake_anyway()
    :: else
    fi;
#endif
    goto over;

later:
    if
    :: d_step { hurried = true; waking++ };
#ifdef HURRY_WITHOUT_WAKE
       waking--
#else
       wake_anyway()
#endif
    :: skip
    fi;
over:
    was = 0
}

/* ---------------------------------------------------------------- loop -- */

active proctype Loop()
{
    byte i;
    bool some, reported;
#ifdef BOUNDED_RUNS
    bool returned;
#endif

    /* Loop.enter. */
#ifdef START_BY_STORE
    d_step { set_state(RUNNING) }
#else
    cas(AWAKE, RUNNING, never_started);
#endif

tick:
#ifdef BOUNDED_RUNS
    /* Loop.leave and Loop.enter: a bounded run returns, another run begins. */
    if
    :: !returned ->
        returned = true;
        cas(RUNNING, AWAKE, leave);
        cas(AWAKE, RUNNING, never_started)
    :: skip
    fi;
#endif
    drain_priority(some);
    some = false;
    do
    :: d_step { slot[head] != 0 -> take_slot() }
    :: slot[head] == 0 -> break
    od;

    /* Poller.pollUntil: announce, (fence,) check again. */
    cas(RUNNING, SLEEPING, leave);
    if :: slot[head] != 0 -> goto back :: else fi;
    if :: size != 0       -> goto back :: else -> blocked = true fi;
    atomic {
        if
        :: edge -> edge = false; reported = true; taken = 1
#ifdef LIVENESS
        :: io   -> io = false
#else
        :: true -> skip
#endif
        fi;
        blocked = false
    }

    /* Back to RUNNING if still SLEEPING: TERMINATING is never overwritten. */
back:
#ifdef STORE_RUNNING
    atomic { set_state(RUNNING) }
#else
    cas(SLEEPING, RUNNING, leave);
#endif
    if
    :: reported -> d_step { pending = false; taken = 0; reported = false }
    :: else
    fi;
    goto tick;

leave:
    clear_in_drain();
    drain();
    terminate();
never_started:
    skip
}

/* --------------------------------------------------------- environment -- */

/* I/O, timers, EINTR. In the safety run such a return is always possible; for
 * liveness it is a process (see sleep.pml), with a bound (see README.md). */
#ifdef LIVENESS
active proctype OtherReasons()
{
#ifdef IO_FOREVER
    do
    :: !io -> io = true
    :: break
    od
#else
    byte n;
    do
    :: n < IO && !io -> io = true; n++
    :: break
    od
#endif
}
#endif

#ifndef LIVENESS
active proctype Monitor()
{
end:
    do
    /* (a) asleep forever beside visible work, with no wake-up due; or asleep
     * forever in state TERMINATING, or past the deadline of the drain. */
    :: atomic {
           blocked && !edge && waking == 0 &&
           (slot[head] != 0 || size != 0 || hurried || state == TERMINATING) ->
           lost_wake_up = true; assert(!lost_wake_up)
       }
    /* (d) as in sleep.pml, as long as the loop can sleep at all. */
    :: atomic {
           state != TERMINATED && !fd_closed &&
           pending != signalling + edge + taken ->
           two_signals = true; assert(!two_signals)
       }
    od
}
#endif

init
{
    byte n;

    atomic {
#if TASKS_A > 0
        run External(A, TASKS_A);
#endif
#if TASKS_B > 0
        run External(B, TASKS_B);
#endif
#if TASKS_P > 0
        run Priority(P, TASKS_P);
#ifndef RESUBMIT
        if :: awaits = true :: skip fi;
#endif
#endif
        do
        :: n < CALLERS -> run Shutdown(); n++
        :: else        -> break
        od
    }
}

/* (i) Once called, shutdown completes. */
ltl ends { <> done }
