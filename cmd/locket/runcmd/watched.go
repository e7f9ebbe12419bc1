package runcmd

import (
	"context"
	"log/slog"
	"sync"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/locket-dev/locket/node/serve"
)

// watched tells systemd that the daemon is ready. If the unit has WatchdogSec=, it also tells
// systemd regularly that the node still answers, so that systemd restarts one that hangs
// (sd_notify(3), sd_watchdog_enabled(3)). If systemd did not start the daemon, it does nothing.
// stop ends this. If ctx has ended, stop also tells systemd that the daemon is stopping; a daemon
// that restarts in place does not say so.
func watched(ctx context.Context, health serve.Diagnostics, log *slog.Logger) (stop func()) {
	say := func(state string) {
		if _, err := systemd.SdNotify(false, state); err != nil {
			log.Warn("systemd is not told", "state", state, "error", err)
		}
	}
	every, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("systemd's watchdog is not served", "error", err)
	}
	say(systemd.SdNotifyReady)
	inner, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	if every > 0 {
		running.Go(func() {
			tick := time.NewTicker(every / 2)
			defer tick.Stop()
			for {
				if answers(inner, health, every/2) {
					say(systemd.SdNotifyWatchdog)
				}
				select {
				case <-inner.Done():
					return
				case <-tick.C:
				}
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
		if ctx.Err() != nil {
			say(systemd.SdNotifyStopping)
		}
	}
}

// answers reports whether the node answers a health request in time.
func answers(ctx context.Context, health serve.Diagnostics, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := health.Status(ctx)
	return err == nil
}
