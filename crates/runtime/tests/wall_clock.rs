//! The wall clock: real sleeps, wakes from other threads.

#![allow(clippy::unwrap_used)] // A test says what must not fail by unwrapping it.

use crate::common::{runtime_with, runtimes};
use runtime::sync::Notify;
use runtime::time::{MILLISECOND_NS, SECOND_NS};
use runtime::{IoDriver, Runtime, WallClockOptions};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Instant;

#[test]
fn sleeps_last_at_least_as_long_as_asked() {
    for runtime in runtimes() {
        sleeps_last(&runtime);
    }
}

fn sleeps_last(runtime: &Runtime) {
    let handle = runtime.handle();
    assert!(!handle.is_virtual());
    let started = Instant::now();
    runtime.block_on(async move {
        let sleeper = handle.clone();
        let long = handle.spawn(async move { sleeper.sleep_ns(30 * MILLISECOND_NS).await });
        let before_ns = handle.now_ns();
        for _ in 0..5 {
            handle.sleep_ns(2 * MILLISECOND_NS).await;
        }
        assert!(handle.now_ns() - before_ns >= 10 * MILLISECOND_NS);
        long.await;
    });
    assert!(started.elapsed().as_millis() >= 30);
}

/// Something that another thread counts up and tasks wait for.
#[derive(Default)]
struct Signal {
    count: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

#[test]
fn other_threads_wake_a_sleeping_runtime() {
    for runtime in runtimes() {
        is_woken(&runtime);
    }
}

fn is_woken(runtime: &Runtime) {
    const SIGNALS: u32 = 200;
    let signal = Arc::new(Signal::default());
    let sender = Arc::clone(&signal);
    let thread = std::thread::spawn(move || {
        for number in 0..SIGNALS {
            if number % 20 == 0 {
                // Lets the runtime fall asleep; the test holds whatever the timing.
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            sender.count.fetch_add(1, Ordering::SeqCst);
            if let Some(waker) = sender.waker.lock().unwrap().take() {
                waker.wake();
            }
        }
    });
    // No timer is set: only the other thread can bring this to an end.
    let seen = runtime.block_on(std::future::poll_fn(move |context| {
        *signal.waker.lock().unwrap() = Some(context.waker().clone());
        match signal.count.load(Ordering::SeqCst) {
            SIGNALS => Poll::Ready(SIGNALS),
            _ => Poll::Pending,
        }
    }));
    assert_eq!(seen, SIGNALS);
    thread.join().unwrap();
}

#[test]
fn runtimes_may_be_nested_and_used_in_turn() {
    for outer in runtimes() {
        is_nested(&outer);
    }
}

fn is_nested(outer: &Runtime) {
    let handle = outer.handle();
    let before = handle.spawn(async { 1 });
    let sum = outer.block_on(async move {
        let inner = Runtime::virtual_clock();
        let inner_handle = inner.handle();
        let two = inner.block_on(async move {
            let task = inner_handle.clone();
            let task = inner_handle.spawn(async move {
                task.sleep_ns(SECOND_NS).await;
                2
            });
            task.await
        });
        handle.yield_now().await;
        before.await + two
    });
    assert_eq!(sum, 3);
}

#[test]
fn tasks_spawned_while_the_runtime_is_dropped_are_dropped_too() {
    struct SpawnsWhenDropped(runtime::Handle, Arc<AtomicU32>);
    impl Drop for SpawnsWhenDropped {
        fn drop(&mut self) {
            let count = Arc::clone(&self.1);
            self.0
                .spawn(async move { count.fetch_add(100, Ordering::SeqCst) });
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    let count = Arc::new(AtomicU32::new(0));
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let guard = SpawnsWhenDropped(handle.clone(), Arc::clone(&count));
    handle.spawn(async move {
        std::future::pending::<()>().await;
        drop(guard);
    });
    runtime.block_on(async move { handle.yield_now().await });
    drop(runtime);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

/// The order in which two ordinary tasks and an urgent one run that become ready in this order, twice
/// each.
fn order_of_tasks(runtime: &Runtime) -> Vec<&'static str> {
    let handle = runtime.handle();
    let order = Rc::new(RefCell::new(Vec::new()));
    let bell = Rc::new(Notify::default());
    let (kept, ring) = (Rc::clone(&order), Rc::clone(&bell));
    let task = move |name: &'static str| {
        let (order, bell) = (Rc::clone(&kept), Rc::clone(&bell));
        async move {
            order.borrow_mut().push(name);
            bell.notified().await;
            order.borrow_mut().push(name);
        }
    };
    runtime.block_on(async move {
        let tasks = [
            handle.spawn(task("first")),
            handle.spawn(task("second")),
            handle.spawn_urgent(task("urgent")),
        ];
        handle.yield_now().await;
        ring.notify_all();
        for task in tasks {
            task.await;
        }
    });
    order.take()
}

#[test]
fn urgent_tasks_go_first_on_the_wall_clock_only() {
    let in_turn = ["first", "second", "urgent", "first", "second", "urgent"];
    assert_eq!(order_of_tasks(&Runtime::virtual_clock()), in_turn);
    for runtime in runtimes() {
        let order = order_of_tasks(&runtime);
        assert_eq!(order[0], "urgent");
        let last = order.iter().rposition(|&name| name == "urgent");
        let ordinary = order.iter().rposition(|&name| name == "first");
        assert!(last < ordinary, "{order:?}");
    }
}

/// A runtime names its I/O driver; io_uring is taken by itself where there is one.
#[test]
fn a_runtime_names_its_driver() {
    let ring = runtime_with(IoDriver::IoUring);
    let pool = runtime_with(IoDriver::Threads).unwrap();
    let named = pool.handle().io_driver().unwrap();
    assert_eq!(
        (named.driver, named.fallback_reason),
        (IoDriver::Threads, None)
    );
    let automatic = Runtime::wall_clock(&WallClockOptions::default()).unwrap();
    let named = automatic.handle().io_driver().unwrap();
    assert_eq!(named.driver == IoDriver::IoUring, ring.is_some());
    assert_eq!(named.fallback_reason.is_some(), ring.is_none());
    let simulated: Option<_> = Runtime::virtual_clock().handle().io_driver();
    assert!(simulated.is_none());
}
