from __future__ import annotations

import asyncio
import threading

from app.services.runtime.notifications import Notifications


def test_all_who_wait_for_an_id_are_woken_from_another_thread_and_no_others():
    async def scene():
        notifications = Notifications()
        with (
            notifications.subscribe("sub_1") as one,
            notifications.subscribe("sub_1") as same,
            notifications.subscribe("sub_2") as other,
        ):
            thread = threading.Thread(target=notifications.notify, args=(["sub_1", "sub_9"],))
            thread.start()
            await asyncio.wait_for(asyncio.gather(one.wait(), same.wait()), 10)
            thread.join()
            assert not other.is_set()
            assert sorted(notifications.awaited()) == ["sub_1", "sub_2"]
        assert notifications.awaited() == []

    asyncio.run(scene())


def test_one_that_goes_on_waiting_is_woken_again():
    async def scene():
        notifications = Notifications()
        with notifications.subscribe("run_1") as changed:
            for _ in range(3):
                notifications.notify(["run_1"])
                await asyncio.wait_for(changed.wait(), 10)
                changed.clear()

    asyncio.run(scene())


def test_an_announcement_for_a_loop_that_was_closed_disturbs_nobody():
    notifications = Notifications()

    async def wait():
        with notifications.subscribe("sub_1"):
            return notifications.subscribe("sub_1").__enter__()

    asyncio.run(wait())
    notifications.notify(["sub_1"])
