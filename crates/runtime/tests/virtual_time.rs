//! The virtual clock: order, jumps and repeatability.

use runtime::sync::{Channel, Notify, Semaphore};
use runtime::time::{MILLISECOND_NS, SECOND_NS};
use runtime::{Handle, Runtime};
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn time_jumps_to_the_next_timer() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let now = runtime.block_on(async move {
        handle.sleep_ns(86_400 * SECOND_NS).await;
        handle.now_ns()
    });
    assert_eq!(now, 86_400 * SECOND_NS);
}

#[test]
fn timers_fire_in_order_and_ties_in_the_order_they_were_set() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let order = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&order);
    runtime.block_on(async move {
        let mut tasks = Vec::new();
        for (name, delay_ms) in [('c', 3), ('a', 1), ('b', 1), ('d', 7)] {
            let (handle, seen) = (handle.clone(), Rc::clone(&seen));
            tasks.push(handle.clone().spawn(async move {
                handle.sleep_ns(delay_ms * MILLISECOND_NS).await;
                seen.borrow_mut().push(name);
            }));
        }
        for task in tasks {
            task.await;
        }
    });
    assert_eq!(*order.borrow(), ['a', 'b', 'c', 'd']);
}

#[test]
fn a_dropped_sleep_does_not_hold_time_back() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let now = runtime.block_on(async move {
        let mut long = Box::pin(handle.sleep_ns(10 * SECOND_NS));
        std::future::poll_fn(|context| {
            let _ = long.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
        drop(long);
        handle.sleep_ns(20 * SECOND_NS).await;
        handle.now_ns()
    });
    assert_eq!(now, 20 * SECOND_NS);
}

#[test]
fn a_semaphore_lets_in_as_many_as_it_has_permits_in_turn() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let finished_ms = runtime.block_on(async move {
        let semaphore = Semaphore::new(2);
        let finished = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..5)
            .map(|number| {
                let (handle, semaphore) = (handle.clone(), Rc::clone(&semaphore));
                let finished = Rc::clone(&finished);
                handle.clone().spawn(async move {
                    let _permit = semaphore.acquire().await;
                    handle.sleep_ns(10 * MILLISECOND_NS).await;
                    finished
                        .borrow_mut()
                        .push((number, handle.now_ns() / MILLISECOND_NS));
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
        assert_eq!(semaphore.available(), 2);
        finished.take()
    });
    assert_eq!(finished_ms, [(0, 10), (1, 10), (2, 20), (3, 20), (4, 30)]);
}

#[test]
fn a_channel_delivers_in_order_and_ends_when_closed() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let received = runtime.block_on(async move {
        let channel = Rc::new(Channel::default());
        let sender = Rc::clone(&channel);
        let sleeper: Handle = handle.clone();
        handle.spawn(async move {
            for number in 0..10 {
                sender.send(number);
                sleeper.sleep_ns(number * MILLISECOND_NS).await;
            }
            sender.close();
        });
        let mut received = Vec::new();
        while let Some(number) = channel.receive().await {
            received.push(number);
        }
        received
    });
    assert_eq!(received, (0..10).collect::<Vec<u64>>());
}

#[test]
#[should_panic(expected = "deadlocked")]
fn a_deadlock_is_found() {
    let runtime = Runtime::virtual_clock();
    runtime.block_on(async { Notify::default().notified().await });
}

#[test]
fn a_task_that_yields_for_ever_does_not_stop_time() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let forever = handle.clone();
        handle.spawn(async move {
            loop {
                forever.yield_now().await;
                if forever.now_ns() > SECOND_NS {
                    return;
                }
                forever.sleep_ns(MILLISECOND_NS).await;
            }
        });
        handle.sleep_ns(2 * SECOND_NS).await;
    });
}
