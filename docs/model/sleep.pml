/*
 * sleep.pml - check-then-sleep against submit-then-wake, on weak memory.
 *
 * One loop thread, two external producers, one priority producer, no shutdown
 * (shutdown.pml models that). The subject is a pair of store->load races:
 *
 *     loop                               producer
 *     state = SLEEPING                   slot[t] = task
 *     full fence                         full fence
 *     load the slots and size            load state
 *
 * Each thread therefore has a store buffer. A store enters the thread's own
 * FIFO buffer. It becomes visible to other threads when the buffer's process
 * flushes it, at any later moment. Loads read memory at once. A fence waits
 * until the thread's own buffer is empty.
 *
 * This is x86-TSO, weakened in one respect: the loop's compareAndSet does NOT
 * imply a fence. It enters the buffer like a store. An acquire/release
 * compareAndSet allows that on AArch64: a later load may be satisfied before
 * the store half of the exclusive pair is visible. Without this weakening the
 * loop's fence would be redundant, because "lock cmpxchg" already is one.
 *
 * Corresponding Java code:
 *     loop_cas            internal.loop.StateCell            move, fallAsleep
 *     Loop: announce,     internal.loop.Poller               pollUntil, pollNow
 *       fence, check
 *     External            internal.loop.ExternalLane         offer, poll, isEmpty
 *     Priority            internal.loop.PriorityLane         offer, poll, isEmpty
 *     wake                internal.loop.Ingress              wakeIfAsleep
 *       its last two steps, and clear_pending
 *                         internal.backend.Wakeup            signal, drained
 * A fence of the model need not be an instruction: Java guarantees the same
 * between two accesses of volatile mode. It does not if one of the two is only
 * acquire, release or opaque.
 *
 * Properties (letters as in README.md). Each is a variable named after the
 * failure, so that the verifier's message names it:
 *     lost_wake_up      (a) safety form          ltl all_run   (a) liveness
 *     run_twice         (b)                      overtaken     (c)
 *     two_signals       (d)                      needless_write(e)
 *
 * Mutants (-D...), which Spin must detect:
 *     NO_LOOP_FENCE  NO_PRODUCER_FENCE  NO_PRIORITY_FENCE
 *     CHECK_BEFORE_ANNOUNCE  CLEAR_AFTER_CHECK  NEVER_CLEAR  CLEAR_ALWAYS
 *     POLL_DOES_NOT_CLEAR  WAKE_ALWAYS  CLAIM_NOT_ATOMIC  NEWEST_FIRST
 *     NOT_TAKEN
 * Variants, which must hold: CLEAR_AFTER_DRAIN  NO_POLL
 * A limit of the protocol, which Spin must find: SIGNALLER_DIES (see README.md).
 */

/* internal.loop.StateCell: the numbers are those of the Java class. */
#define AWAKE       0
#define TERMINATED  1
#define SLEEPING    2
#define TERMINATING 3
#define RUNNING     4

/* The number of tasks that each producer submits. */
#ifndef TASKS_A
#define TASKS_A 2
#endif
#ifndef TASKS_B
#define TASKS_B 1
#endif
#ifndef TASKS_P
#define TASKS_P 2
#endif

#define A 0                     /* external producer                        */
#define B 1                     /* external producer                        */
#define P 2                     /* priority producer                        */
#define PRODUCERS 3
#define SLOTS (TASKS_A + TASKS_B)

/* A task is a number: producer and position in that producer's sequence.
 * 0 is the empty slot. */
#define TASK(p, n)   (1 + (p) * 4 + (n))
#define OWNER(task)  (((task) - 1) / 4)
#define NUMBER(task) (((task) - 1) % 4)

byte state = RUNNING;           /* StateCell.state                          */

byte tail;                      /* ExternalLane.tail: tickets claimed       */
byte head;                      /* ExternalLane.head: loop thread only      */
byte slot[SLOTS + 1];           /* ExternalLane slots; the last stays empty */

bool lane_lock;                 /* PriorityLane.lock                        */
byte list[TASKS_P + 1];         /* PriorityLane list, guarded by the lock   */
byte size;                      /* PriorityLane.size, also read without it  */

bool pending;                   /* Wakeup.pending                           */
bool edge;                      /* kernel: eventfd is on epoll's ready list */
bool io;                        /* kernel: another reason to return         */

/* Ghost variables: only for the properties, with no counterpart in Java. */
byte expected[PRODUCERS];       /* next number to run, per producer         */
byte waking;                    /* producers between their fill and the end
                                   of their wake()                          */
byte signalling;                /* won pending.getAndSet, not yet written   */
bool taken;                     /* edge reported, clear not yet visible     */
bool blocked;                   /* the loop is committed to epoll_wait      */

bool lost_wake_up, run_twice, overtaken, two_signals, needless_write;

#define never_if(condition, name) \
    if :: (condition) -> name = true :: else fi; assert(!name)

/* ------------------------------------------------------- store buffers -- */

/* Targets of a buffered store, beside the slots 0 .. SLOTS-1. */
#define TO_LIST    100
#define TO_UNLOCK  101
#define TO_STATE   102
#define TO_PENDING 103

chan buffer[PRODUCERS] = [2] of { byte, byte };
chan loop_buffer       = [2] of { byte, byte };

#define fence(own) empty(own)

proctype ProducerBuffer(byte who)
{
    byte place, value;
end:
    do
    :: d_step {
           buffer[who]?place, value ->
           if
           :: place == TO_LIST   -> list[size] = value; size++
           :: place == TO_UNLOCK -> lane_lock = false
           :: else               -> slot[place] = value
           fi;
           place = 0; value = 0
       }
    od
}

proctype LoopBuffer()
{
    byte place, value;
end:
    do
    :: d_step {
           loop_buffer?place, value ->
           if
           :: place == TO_STATE -> state = value
           :: else              -> pending = false; taken = false
           fi;
           place = 0; value = 0
       }
    od
}

/* ---------------------------------------------------------------- loop -- */

/* StateCell.move by the loop thread. Without shutdown no other thread writes
 * the state, so it cannot fail here; shutdown.pml has the other half.
 * Earlier stores of the thread are visible first (release). Later loads are
 * not held back (see the head of this file). */
inline loop_cas(from, to)
{
    atomic {
        empty(loop_buffer) -> assert(state == from);
        loop_buffer!TO_STATE, to
    }
}

/* Runs a task: only the bookkeeping of (b) and (c). */
inline execute(task)
{
    never_if(NUMBER(task) < expected[OWNER(task)], run_twice);
    never_if(NUMBER(task) > expected[OWNER(task)], overtaken);
    expected[OWNER(task)] = NUMBER(task) + 1
}

/* PriorityLane.poll: a read of size, then the whole list under the lock.
 * The section is one step: it is invisible to other threads, and only this
 * thread reads size without the lock. */
inline drain_priority()
{
    if
    :: size == 0
    :: else ->
        d_step {
            !lane_lock ->
#ifdef NEWEST_FIRST
            do
            :: size > 0 -> size--; execute(list[size]); list[size] = 0
            :: else     -> break
            od;
#else
            i = 0;
            do
            :: i < size -> execute(list[i]); i++
            :: else     -> break
            od;
#ifndef NOT_TAKEN
            size = 0;
#endif
#endif
            i = 0
        }
    fi
}

/* ExternalLane.poll: an unfilled head slot means "empty", claimed or not. */
inline drain_external()
{
    do
    :: d_step {
           slot[head] != 0 ->
           execute(slot[head]);
           slot[head] = 0;
           head++
       }
    :: slot[head] == 0 -> break
    od
}

/* Wakeup.drained: a release store is enough, so none stronger is modelled. */
inline clear_pending()
{
    atomic { reported -> reported = false; loop_buffer!TO_PENDING, 0 }
}

/* Ingress.isEmpty: two loads, one after the other. */
inline check_lanes()
{
    if
    :: slot[head] != 0 -> found = true
    :: else
    fi;
    if
    :: size != 0 -> found = true
    :: else
    fi
}

/* Reporting the eventfd's edge removes it from the ready list (EPOLLET). The
 * counter itself is never read. */
inline take_edge() { edge = false; reported = true; taken = true }

active proctype Loop()
{
    byte i;
    bool found, reported;

tick:
    drain_priority();
    drain_external();
#ifdef CLEAR_AFTER_DRAIN
    if :: clear_pending() :: !reported fi;
#endif

    /* Poller.pollUntil: announce, fence, check again. */
#ifdef CHECK_BEFORE_ANNOUNCE
    check_lanes();
    if :: found -> found = false; goto tick :: else fi;
#endif
    loop_cas(RUNNING, SLEEPING);
#ifndef NO_LOOP_FENCE
    fence(loop_buffer);
#endif
#ifndef CHECK_BEFORE_ANNOUNCE
    check_lanes();
#endif
#ifdef CLEAR_AFTER_CHECK
    if :: clear_pending() :: !reported fi;
#endif
    if
    :: found ->
        /* A task has arrived: continue without blocking. */
        found = false;
        loop_cas(SLEEPING, RUNNING);
#ifndef NO_POLL
        /* If this path polls for I/O with a timeout of 0, that poll may
         * report the edge too. It then has to clear pending as well. */
        if
        :: atomic { edge -> take_edge() };
#ifdef POLL_DOES_NOT_CLEAR
           reported = false
#endif
        :: skip
        fi;
#endif
        goto woken
    :: else -> blocked = true
    fi;

    /* epoll_wait. It returns for the edge or for another reason. In the
     * second case it need not report an edge that is also ready. */
end_wait:
    atomic {
        if
        :: edge -> take_edge()
#ifdef LIVENESS
        :: io   -> io = false
#else
        :: true -> skip
#endif
        fi;
        blocked = false
    }
    loop_cas(SLEEPING, RUNNING);

woken:
#ifdef NEVER_CLEAR
    reported = false;
#endif
#ifdef CLEAR_ALWAYS
    reported = true;
#endif
#if !defined(CLEAR_AFTER_DRAIN) && !defined(CLEAR_AFTER_CHECK)
    if :: clear_pending() :: !reported fi;
#endif
    goto tick
}

/* ----------------------------------------------------------- producers -- */

/* Ingress.wakeIfAsleep, after the fence: load the state, then Wakeup.signal.
 * Its lock only guards against the close of the eventfd: see shutdown.pml. */
inline wake()
{
    atomic {
        saw = state;
        if
#ifdef WAKE_ALWAYS
        :: true -> skip
#else
        :: saw == SLEEPING -> skip
        :: else            -> saw = AWAKE; waking--; goto next
#endif
        fi
    }
    atomic {
        if
        :: !pending -> pending = true; signalling++
        :: else     -> saw = AWAKE; waking--; goto next
        fi
    }
#ifdef SIGNALLER_DIES
    if :: skip :: saw = AWAKE; waking--; goto next fi;
#endif
    d_step {
        never_if(saw != SLEEPING, needless_write);
        never_if(edge, two_signals);                /* would be coalesced */
        edge = true; signalling--; waking--; saw = AWAKE
    }
}

proctype External(byte who; byte tasks)
{
    byte n, ticket, saw;

next:
    if
    :: n < tasks ->
        /* ExternalLane.offer, the ticket: by compareAndSet on tail. A failed
         * attempt has no effect, so claim and retry are one step. */
#ifdef CLAIM_NOT_ATOMIC
        ticket = tail;
        tail = ticket + 1;
#else
        d_step { ticket = tail; tail++ }
#endif
        /* ExternalLane.offer, the fill: a store into the claimed slot. */
        atomic { buffer[who]!ticket, TASK(who, n); waking++; ticket = 0; n++ }
#ifndef NO_PRODUCER_FENCE
        fence(buffer[who]);
#endif
        wake();
        goto next
    :: else
    fi
}

proctype Priority(byte who; byte tasks)
{
    byte n, saw;

next:
    if
    :: n < tasks ->
        /* PriorityLane.offer: append under the lock. The new size and then the
         * released lock become visible, in this order, but late. */
        atomic { !lane_lock -> lane_lock = true }
        atomic { buffer[who]!TO_LIST, TASK(who, n); waking++; n++ }
        buffer[who]!TO_UNLOCK, 0;
#ifndef NO_PRIORITY_FENCE
        fence(buffer[who]);
#endif
        wake();
        goto next
    :: else
    fi
}

/* --------------------------------------------------------- environment -- */

/* I/O, timers, EINTR: any number of times, and possibly never again. In the
 * liveness run this is a separate process, so that fairness cannot force such
 * a return on a loop that has lost its wake-up. In the safety run the return
 * is always possible. */
#ifdef LIVENESS
active proctype OtherReasons()
{
    do
    :: !io -> io = true
    :: break
    od
}
#endif

#ifndef LIVENESS
active proctype Monitor()
{
end:
    do
    /* (a) asleep forever beside visible work, with no wake-up due. */
    :: atomic {
           blocked && !edge && waking == 0 && (slot[head] != 0 || size != 0) ->
           lost_wake_up = true; assert(!lost_wake_up)
       }
    /* (d) pending is a token: the thread that sets it owes one write, the
     * write is one edge, the edge is one clear. There is exactly one token. */
    :: atomic {
           pending != signalling + edge + taken ->
           two_signals = true; assert(!two_signals)
       }
    od
}
#endif

init
{
    atomic {
        run LoopBuffer();
#if TASKS_A > 0
        run ProducerBuffer(A); run External(A, TASKS_A);
#endif
#if TASKS_B > 0
        run ProducerBuffer(B); run External(B, TASKS_B);
#endif
#if TASKS_P > 0
        run ProducerBuffer(P); run Priority(P, TASKS_P);
#endif
    }
}

/* (a) Every accepted task - here every task - eventually runs. */
ltl all_run {
    <> (expected[A] == TASKS_A && expected[B] == TASKS_B && expected[P] == TASKS_P)
}
