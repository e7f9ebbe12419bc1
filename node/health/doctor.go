package health

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/lockedmem"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Doctor implements serve.Diagnostics.
func (ch Checks) Doctor(ctx context.Context, verify bool) (serve.DoctorReport, error) {
	s, err := ch.status(ctx)
	if err != nil {
		return serve.DoctorReport{}, err
	}
	r := serve.DoctorReport{Verified: verify, Findings: []serve.Finding{}}
	add := func(check, level, advice, format string, args ...any) *serve.Finding {
		r.Findings = append(r.Findings, serve.Finding{Check: check, Level: level, Detail: fmt.Sprintf(format, args...), Advice: advice})
		return &r.Findings[len(r.Findings)-1]
	}
	if s.Locked {
		add("keys", serve.LevelWarning, "run 'locket unlock': until then events are accepted and wait, sealed", "the keys are not open").Remedy("locket unlock", "", "")
	} else {
		add("keys", serve.LevelOK, "", "open")
		if n, err := lockedmem.State(); err != nil {
			add("keys in memory", serve.LevelWarning, "raise the limit on locked memory (ulimit -l, or LimitMEMLOCK of the service), or encrypt swap", "%v", err)
		} else {
			add("keys in memory", serve.LevelOK, "", "%d are kept from swap and dumps", n)
		}
	}
	switch {
	case s.Disk.Free < s.Disk.Reserve:
		add("disk", serve.LevelError, "free some space: nothing is lost, devices keep what is not acknowledged",
			"%d MB free, under the reserve of %d MB: events are refused", s.Disk.Free/1e6, s.Disk.Reserve/1e6)
	case s.Disk.Free < 2*s.Disk.Reserve:
		add("disk", serve.LevelWarning, "free some space soon", "%d MB free; from %d MB on events are refused", s.Disk.Free/1e6, s.Disk.Reserve/1e6)
	default:
		add("disk", serve.LevelOK, "", "%d MB free, %d MB used", s.Disk.Free/1e6, s.Disk.Used/1e6)
	}
	ch.doctorBroker(&s, add)
	if s.Pause.Paused {
		add("intake", serve.LevelWarning, "run 'locket resume'", "paused: what wearables send is dropped").Remedy("locket resume", "resume", "")
	}
	if len(s.Private.Active) > 0 {
		add("private zones", serve.LevelOK, "", "in %s: what wearables send is dropped", strings.Join(s.Private.Active, ", "))
	}
	if s.Devices == 0 && ch.cfg.Broker.URL == "" {
		add("devices", serve.LevelWarning, "run 'locket wearable add NAME'", "no wearable can connect to this node yet").Remedy("locket wearable add NAME", "addDevice", "")
	} else if ch.cfg.Broker.URL == "" {
		add("devices", serve.LevelOK, "", "%d with credentials", s.Devices)
	}
	if err := ch.doctorPlugins(&s, add); err != nil {
		return r, err
	}
	if s.Journal.Quarantined > 0 {
		add("input", serve.LevelWarning, "see 'locket doctor --json' or GET /v1/quarantine", "%d messages were refused, and are kept in quarantine", s.Journal.Quarantined).Remedy("locket doctor --json", "", "")
	}
	doctorEngines(&s, add)
	if s.Backup != nil {
		doctorBackup(s.Backup, add)
	}
	ch.doctorFiles(verify, add)
	err = ch.of.During(ctx, func(ctx context.Context, h *Health) error {
		for _, m := range h.c.Models {
			if err := m.Doctor(ctx, add); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, memory.ErrLocked) {
		return r, err
	}
	if err := ch.doctorStore(ctx, verify, add); err != nil {
		return r, err
	}
	if err := ch.doctorEnvelopes(ctx, verify, add); err != nil {
		return r, err
	}
	if err := ch.doctorSync(ctx, add); err != nil {
		return r, err
	}
	r.OK = true
	for _, f := range r.Findings {
		r.OK = r.OK && f.Level != serve.LevelError
	}
	return r, nil
}

// doctorBackup checks the scheduled backup.
func doctorBackup(b *serve.BackupStatus, add adder) {
	switch {
	case b.Failures > 0:
		add("backup", serve.LevelWarning, "run 'locket backup "+b.To+"' to see it", "%s: %d tries failed since the last one: %s", b.To, b.Failures, b.Error).Remedy("locket backup "+b.To, "", "")
	case b.At.IsZero():
		add("backup", serve.LevelWarning, "leave 'locket run' running: it makes the first one soon", "%s: the schedule has made none yet", b.To).Remedy("locket run", "", "")
	default:
		add("backup", serve.LevelOK, "", "%s: the last one was made at %s", b.To, b.At.Format(time.RFC3339))
	}
}

// doctorEngines checks the engines that hear and see.
func doctorEngines(s *serve.Status, add adder) {
	hears, programs := false, []string{}
	for i := range s.Engines {
		e := &s.Engines[i]
		hears = hears || e.Kind == string(engines.Ears)
		if e.URL == "" {
			programs = append(programs, e.Engine)
		}
		switch {
		case e.Trouble != "":
			add(e.Kind, serve.LevelWarning, "see 'locket engine list'; nothing is lost meanwhile", "%d wait for %s: %s", e.Waiting, e.Name, e.Trouble).Remedy("locket engine list", "", "")
		case e.Parked > 0:
			add(e.Kind, serve.LevelWarning, "see 'locket engine list'; 'locket engine add' tries them again", "%s failed at %d", e.Name, e.Parked).Remedy("locket engine list", "", "")
		default:
			add(e.Kind, serve.LevelOK, "", "%s: %d wait", e.Name, e.Waiting)
		}
	}
	if len(programs) > 0 {
		level, advice := serve.LevelOK, ""
		words, whole := engine.Confinement()
		if !whole {
			level, advice = serve.LevelWarning, "run a kernel with Landlock and seccomp, or engines behind an address, in a container"
		}
		add("programs", level, advice, "%s: %s", strings.Join(programs, ", "), words)
	}
	if s.Journal.Transcribe > 0 && !hears {
		add("recordings", serve.LevelOK, "locket engine add ears auto", "%d wait for a transcript, and no speech engine is set up", s.Journal.Transcribe).Remedy("locket engine add ears auto", "", "")
	}
}

// doctorPlugins checks the plugins, and the names of those that are configured to
// be off.
func (ch Checks) doctorPlugins(s *serve.Status, add adder) error {
	for _, p := range s.Plugins {
		if p.Blocks {
			add("plugin "+p.Name, serve.LevelError, "run 'locket plugin enable "+p.Name+"', or install it again, disable or remove it",
				"it takes words away, but does not run: until it does, everything that is said is set aside").Remedy("locket plugin enable "+p.Name, "enablePlugin", p.Name)
		} else if !p.Enabled {
			add("plugin "+p.Name, serve.LevelError, "'locket plugin show "+p.Name+"' has the faults, and 'locket plugin enable "+p.Name+"' has it run again",
				"disabled after %d faults", p.Faults).Remedy("locket plugin enable "+p.Name, "enablePlugin", p.Name)
		} else if p.Faults > 0 {
			add("plugin "+p.Name, serve.LevelWarning, "", "%d of %d calls failed", p.Faults, p.Calls)
		}
	}
	return ch.doctorNames(add)
}

// repairAdvice is for what a repair can fix.
const repairAdvice = "stop the daemon and run 'locket doctor --repair'"

// damaged adds a finding that a repair can fix.
func damaged(add adder, check string, err error) {
	add(check, serve.LevelError, repairAdvice, "%v", err).Remedy("locket doctor --repair", "", "")
}

// doctorFiles checks the files beside the store that only the node itself changes
// while it runs.
func (ch Checks) doctorFiles(verify bool, add adder) {
	for _, err := range keyring.Check(filepath.Join(ch.cfg.Home, "keys")) {
		damaged(add, "keys", err)
	}
	loose, err := filepath.Glob(filepath.Join(ch.cfg.Plugins.Dir, "*.wasm"))
	for _, f := range loose {
		add("plugins", serve.LevelWarning, "remove it if you did not put it there: anyone who may write there can change it", "%s was put there by hand", f)
	}
	if err != nil {
		add("plugins", serve.LevelError, "", "%v", err)
	}
	if !verify {
		return
	}
	var key atomicfile.Sealer // while the keys are closed, damage can be found, but not forgery
	if h, release, err := ch.of.Use(); err == nil {
		defer release()
		k := h.c.Ring.StoreKey().Derive(installed.Label)
		defer k.Zero()
		key = k
	}
	for _, p := range installed.Check(ch.cfg.Plugins.Dir, key) {
		damaged(add, "plugins", p.Err)
	}
}

type adder = func(check, level, advice, format string, args ...any) *serve.Finding

// doctorNames reports plugins that are configured to be off but exist under another
// name.
func (ch Checks) doctorNames(add adder) error {
	h, release, err := ch.of.Use()
	if errors.Is(err, memory.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	for _, id := range ch.cfg.Plugins.Disabled {
		if !h.c.HasPlugin(id) {
			add("plugins", serve.LevelWarning, "see 'locket plugin list' for the names", "plugins.disabled names %q, but there is no plugin of that name: nothing is turned off", id).Remedy("locket plugin list", "", "")
		}
	}
	return nil
}

func (ch Checks) doctorBroker(s *serve.Status, add adder) {
	switch {
	case !s.Running:
		add("broker", serve.LevelOK, "", "no daemon runs on this home")
	case s.Broker.Connected:
		add("broker", serve.LevelOK, "", "%s", s.Broker.URL)
	default:
		add("broker", serve.LevelError, "check that it runs, and that the password is right", "%s: not connected", s.Broker.URL)
	}
	switch {
	case !ch.cfg.InClear():
	case ch.cfg.Broker.URL == "":
		add("broker", serve.LevelWarning, "set broker.tls_cert and broker.tls_key", "other machines can reach %s, and without TLS: anyone who listens in gets the wearables' passwords and everything that they send", ch.cfg.Broker.Listen)
	default:
		add("broker", serve.LevelWarning, "use an ssl:// or wss:// URL", "the connection to %s has no TLS: anyone who listens in gets the node's password and everything that wearables send", ch.cfg.Broker.URL)
	}
}

func (ch Checks) doctorStore(ctx context.Context, verify bool, add adder) error {
	h, release, err := ch.of.Use()
	if errors.Is(err, memory.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	if !verify {
		add("store", serve.LevelOK, "", "open; 'locket doctor --verify' reads every record")
		return nil
	}
	damage, err := h.c.Store.Verify(ctx)
	if err != nil {
		return err
	}
	for _, d := range damage {
		damaged(add, "store", &d)
	}
	if len(damage) == 0 {
		records := 0
		err := h.c.Engine.View(ctx, func(tx *store.Tx) error {
			for _, err := range tx.Memories(store.Filter{}) {
				if err != nil {
					return err
				}
				records++
			}
			return nil
		})
		if err != nil {
			return err
		}
		add("store", serve.LevelOK, "", "every record is as it was written; memories in any state: %d", records)
	}
	return nil
}

// Quarantine implements serve.Diagnostics.
func (ch Checks) Quarantine(ctx context.Context, limit int) ([]serve.Quarantined, error) {
	byKind := map[[2]string]*serve.Quarantined{}
	err := opened.View(ctx, ch.of, func(_ *Health, tx *store.Tx) error {
		for m, err := range tx.Quarantined() {
			if err != nil {
				return err
			}
			kind, reason, _ := strings.Cut(m.Reason, ": ")
			q := byKind[[2]string{m.Topic, kind}]
			if q == nil {
				q = &serve.Quarantined{Source: m.Topic, Kind: kind}
				byKind[[2]string{m.Topic, kind}] = q
			}
			q.At, q.Reason, q.Bytes = m.At, reason, int64(m.Size)
			q.Count++
		}
		return nil
	})
	out := make([]serve.Quarantined, 0, len(byKind))
	for _, q := range byKind {
		out = append(out, *q)
	}
	sorting.Sort(out, func(a, b serve.Quarantined) int { return b.At.Compare(a.At) })
	return out[:min(limit, len(out))], err
}
