//! The virtual clock: order, jumps and repeatability.

use runtime::sync::{Channel, Notify, Semaphore};
use runtime::time::{MILLISECOND_NS, SECOND_NS};
use runtime::{EventSource, Handle, Runtime};
use std::cell::RefCell;
use std::collections::VecDeque;
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

/// A model that answers after a delay of its own, one request at a time.
struct Server {
    queue: RefCell<VecDeque<(u64, Rc<Notify>)>>,
}

impl EventSource for Server {
    fn next_event_ns(&self) -> Option<u64> {
        self.queue.borrow().front().map(|(due_ns, _)| *due_ns)
    }

    fn advance_to(&self, now_ns: u64) {
        while self.next_event_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            let answered = self.queue.borrow_mut().pop_front();
            if let Some((_, answered)) = answered {
                answered.notify_all();
            }
        }
    }
}

#[test]
fn a_model_takes_part_in_the_passing_of_time_beside_the_timers() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let server = Rc::new(Server {
        queue: RefCell::default(),
    });
    handle.drive(server.clone());
    let seen = Rc::new(RefCell::new(Vec::new()));
    let (clock, inside, notes) = (handle.clone(), server.clone(), Rc::clone(&seen));
    runtime.block_on(async move {
        let (ticking, ticks) = (clock.clone(), Rc::clone(&notes));
        let ticker = clock.spawn(async move {
            for _ in 0..3 {
                ticking.sleep_ns(100).await;
                ticks.borrow_mut().push(("tick", ticking.now_ns()));
            }
        });
        for _ in 0..2 {
            let answered = Rc::new(Notify::default());
            let due_ns = clock.now_ns() + 130;
            inside
                .queue
                .borrow_mut()
                .push_back((due_ns, Rc::clone(&answered)));
            answered.notified().await;
            notes.borrow_mut().push(("answer", clock.now_ns()));
        }
        ticker.await;
    });
    let expected = [
        ("tick", 100),
        ("answer", 130),
        ("tick", 200),
        ("answer", 260),
        ("tick", 300),
    ];
    assert_eq!(*seen.borrow(), expected);
}
