package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/internal/jail"
	"github.com/locket-dev/locket/wasm/abi"
)

// domain is the plugins of one publisher and the worker process that runs them, one call at a time.
// If one of them damages the process, that affects the same publisher's other plugins, and nobody
// else's.
type domain struct {
	host *Host
	name string // the publisher's key, or the id of an unsigned plugin

	starts atomic.Uint64
	held   atomic.Uint32 // a jail.Report, of the last process
	spare  spare
	dying  sync.WaitGroup // late processes that are being ended

	mu      sync.Mutex // guards the fields below; held during a call
	plugins []*Plugin  // in the order of their numbers in proc
	proc    *process   // nil: none is running
	last    bool       // a worker was late: until the domain is idle, the next ones start at rankLong
	timer   *time.Timer
	request frame
	reply   frame
}

// maxProcessTime is how much processor time a worker may use before it is replaced between two
// calls, because otherwise its limit would end it.
const maxProcessTime = jail.MaxCPU / 2 * time.Second

// LoadApart is LoadFrom for a stranger's plugin: its module is compiled and run in its publisher's
// worker process. If it can't be loaded, the publisher's other plugins continue unchanged.
func (h *Host) LoadApart(ctx context.Context, open func() ([]byte, error), m Manifest, settings map[string]string) (*Plugin, error) {
	if len(h.opt.Worker) == 0 {
		return nil, fmt.Errorf("load plugin %s: %w", m.ID, ErrNoWorker)
	}
	p, module, err := h.newPlugin(open, m, settings)
	if err != nil {
		return nil, err
	}
	if len(module) > abi.MaxModule {
		return nil, fmt.Errorf("load plugin %s: %w: %d bytes, at most %d", m.ID, ErrModule, len(module), abi.MaxModule)
	}
	name := cmp.Or(m.Publisher, m.ID)
	h.mu.Lock()
	d := h.domains[name]
	if d == nil {
		d = &domain{host: h, name: name}
		h.domains[name] = d
	}
	closed := h.closed
	h.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	p.domain = d
	if err := d.add(ctx, p); err != nil {
		return nil, fmt.Errorf("load plugin %s: %w", m.ID, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.Join(ErrClosed, d.remove(p))
	}
	h.plugins[p] = struct{}{}
	return p, nil
}

// add starts a worker with one more plugin, and then ends the old worker.
func (d *domain) add(ctx context.Context, p *Plugin) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := append(slices.Clone(d.plugins), p)
	proc, err := d.start(ctx, all, false)
	if err != nil {
		return err
	}
	if err := proc.failures[len(all)-1]; err != nil {
		return errors.Join(err, proc.end())
	}
	last := d.last // upgrading a late plugin does not give it more time
	err = d.stop()
	d.plugins, d.proc, d.last = all, proc, last
	if last {
		proc.lower(rankLong)
	}
	d.held.Store(uint32(proc.held.Bits()))
	d.armIdle()
	return err
}

// remove removes a plugin; the others restart when one is needed.
func (d *domain) remove(p *Plugin) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plugins = slices.DeleteFunc(d.plugins, func(q *Plugin) bool { return q == p })
	return d.stop()
}

// stop ends the worker and the spare one. The caller holds d.mu.
func (d *domain) stop() error {
	if d.timer != nil {
		d.timer.Stop()
	}
	err := d.spare.drop()
	d.dying.Wait()
	d.last = false
	if d.proc == nil {
		return err
	}
	proc := d.proc
	d.proc = nil
	return errors.Join(err, proc.end())
}

// end ends the worker; the next call starts another.
func (d *domain) end() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stop()
}

// armIdle ends the worker once it has not been used for a while. The caller holds d.mu.
func (d *domain) armIdle() {
	switch idle := d.host.opt.Idle; {
	case idle < 0:
	case d.timer == nil:
		d.timer = time.AfterFunc(idle, d.releaseIdle)
	default:
		d.timer.Reset(idle)
	}
}

func (d *domain) releaseIdle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.stop(); err != nil {
		d.host.opt.Logger.Warn("end idle plugin worker", "domain", d.name, "err", err)
	}
}

// perform makes the worker do the work. A late worker is killed, and so is one that breaks the
// protocol; the next call gets a new one. Of all domains' workers, only one at a time runs at the
// node's own weight: a call that turns out to be long continues at a lower one, and lets the next
// one begin.
func (d *domain) perform(ctx context.Context, p *Plugin, e *abi.Event, input []byte, use func(answer, *Usage) error) (u Usage, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := slices.Index(d.plugins, p)
	if n < 0 {
		return u, ErrClosed
	}
	if d.proc == nil {
		if err := d.ensureWorker(ctx, p, n); err != nil {
			return Usage{Fresh: true}, err
		}
	}
	defer d.armIdle()
	d.request.begin(frameCall)
	d.request.u32(uint32(n))
	d.request.u64(uint64(e.At))
	d.request.str(e.ID)
	d.request.bytes(input)
	limit := p.limits.Time() * d.host.timeScale()
	done, err := d.turn(ctx)
	if err != nil {
		return u, err
	}
	begun := time.Now()
	err = d.proc.ask(&d.request, &d.reply, frameAnswer, limit, func() { d.long(); done() })
	done()
	var a answer
	if err == nil {
		a, u, err = p.readAnswer(&d.reply)
	}
	u.In, u.Time = len(input), time.Since(begun)
	u.Late = u.Time > limit
	if errors.Is(err, errProcess) || errors.Is(err, errFrame) {
		return u, d.lost(p, err)
	}
	if err != nil {
		return u, err
	}
	u.Out = len(a.bytes)
	err = use(a, &u)
	if d.proc.used() > maxProcessTime {
		err = errors.Join(err, d.stop())
	}
	return u, err
}

// ensureWorker starts a worker if there is none. The caller holds d.mu.
func (d *domain) ensureWorker(ctx context.Context, p *Plugin, n int) error {
	proc := d.spare.take(ctx)
	if proc == nil {
		var err error
		if proc, err = d.start(ctx, d.plugins, false); err != nil {
			return err
		}
	}
	if d.last {
		proc.lower(rankLong)
	}
	d.proc = proc
	d.held.Store(uint32(proc.held.Bits()))
	if err := proc.failures[n]; err != nil {
		return errors.Join(fmt.Errorf("load plugin %s again: %w", p.manifest.ID, err), d.stop())
	}
	return nil
}

// lost ends an unusable worker, and says why. The caller holds d.mu.
func (d *domain) lost(p *Plugin, err error) error {
	proc := d.proc
	d.proc = nil
	f := &Fault{Plugin: p.manifest.ID, Kind: FaultWorker, Detail: err, Ended: proc.ended()}
	if f.Ended.IsZero() {
		_ = proc.end() // it was killed, which is the error
		if said := proc.stderrLine(); said != "" {
			f.Detail = errors.New(said)
		}
		return f
	}
	f.Kind, f.Detail, d.last = FaultTime, nil, true
	if proc.starved.Load() {
		f.Kind = FaultStarved
	}
	d.prepare()
	d.dying.Go(func() { _ = proc.end() })
	return f
}

// readAnswer reads a worker's report of a call. Its numbers are only a claim, and are limited to
// what is possible.
func (p *Plugin) readAnswer(f *frame) (a answer, u Usage, err error) {
	status := f.getU8()
	u.Fuel = min(max(int64(f.getU64()), 0), p.limits.Fuel)
	_ = f.getU64() // how long it took, according to the worker
	u.Memory = int(min(f.getU64(), uint64(p.limits.MemoryMiB)<<20))
	u.Lines = int(min(int64(f.getU32()), p.limits.Fuel/hostCost)) // each one costs hostCost
	u.Fresh = f.getFlag()
	lines := make([]string, f.count(4))
	for i := range lines {
		lines[i] = f.getStr()
	}
	var fault error
	if status == answerFault {
		fault = f.getFail(p.manifest.ID)
		f.bad = f.bad || fault == nil
	} else {
		a = answer{bytes: f.getBytes(), failed: status == answerError}
	}
	f.bad = f.bad || status > answerFault || len(lines) > abi.MaxLogLines || len(a.bytes) > p.limits.OutputKiB<<10 ||
		status == answerNothing && len(a.bytes) > 0
	if err := f.end(); err != nil {
		return answer{}, u, err
	}
	if len(lines) > 0 && p.grants[CapLog] {
		for _, l := range lines {
			p.logs.add(printable(l[:min(len(l), abi.MaxLogLine)]))
		}
	}
	if status == answerNothing {
		a.bytes = nil
	}
	return a, u, fault
}

// Confined says how the plugin is isolated; empty: it runs in this process.
func (p *Plugin) Confined() string {
	if p.domain == nil {
		return ""
	}
	held, _ := jail.FromBits(byte(p.domain.held.Load())) // the stored value is valid
	return held.String()
}
