from __future__ import annotations

import asyncio
import threading

from app.services.announcements import Announcements


def test_all_who_wait_for_an_id_are_woken_from_another_thread_and_no_others():
    async def scene():
        announcements = Announcements()
        with (
            announcements.expect("sub_1") as one,
            announcements.expect("sub_1") as same,
            announcements.expect("sub_2") as other,
        ):
            thread = threading.Thread(target=announcements.announce, args=(["sub_1", "sub_9"],))
            thread.start()
            await asyncio.wait_for(asyncio.gather(one.wait(), same.wait()), 10)
            thread.join()
            assert not other.is_set()
            assert sorted(announcements.awaited()) == ["sub_1", "sub_2"]
        assert announcements.awaited() == []

    asyncio.run(scene())


def test_one_that_goes_on_waiting_is_woken_again():
    async def scene():
        announcements = Announcements()
        with announcements.expect("run_1") as changed:
            for _ in range(3):
                announcements.announce(["run_1"])
                await asyncio.wait_for(changed.wait(), 10)
                changed.clear()

    asyncio.run(scene())


def test_an_announcement_for_a_loop_that_was_closed_disturbs_nobody():
    announcements = Announcements()

    async def wait():
        with announcements.expect("sub_1"):
            return announcements.expect("sub_1").__enter__()

    asyncio.run(wait())
    announcements.announce(["sub_1"])
