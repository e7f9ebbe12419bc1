// Package intake takes what wearables publish over MQTT and gives it to the journal. It is the only
// importer of MQTT libraries; its subpackages are wire, for the messages, and wear, for a
// wearable's side.
//
// The words:
//
//   - An [Intake] is the one place through which messages of all transports
//     go: first come, first journalled.
//   - A transport brings messages: a [Client] of somebody's broker, or a
//     [Broker] of our own. Each of its connections is a conn.
//   - To acknowledge is to send PUBACK, and {boot, seq} on the device's ack
//     topic. Both happen after the journal has synced the event to disk, and
//     PUBACKs go in the order of arrival.
//   - To refuse for good is to acknowledge with an error: sent again, the
//     message would be wrong again. It is counted and kept in [Quarantine].
//   - To defer is to say on the ack topic that the message is to be sent again
//     later, and to withhold PUBACK. After that no message of this connection
//     gets a PUBACK, because their order must stay; the connection is ended
//     after a wait, and MQTT brings back what was not acknowledged.
package intake

import (
	"cmp"
	"errors"
	"hash/crc32"
	"log/slog"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// ErrClosed: the intake, or the client or broker that was used, is closed.
var ErrClosed = errors.New("intake: closed")

// Defaults and bounds.
const (
	defaultWindow = 64
	defaultRetry  = 2 * time.Second
	maxRetry      = time.Minute
	maxBatch      = 256      // events in one append
	maxBatchBytes = 8 << 20  // bytes in one append; once they are reached, no more events are added
	maxQueueBytes = 32 << 20 // payload bytes between arrival and journal, for all connections together
)

// Config is what an [Intake] needs. Journal must be set.
type Config struct {
	Journal    Journal
	Quarantine Quarantine       // nil: what is refused is only counted
	Log        *slog.Logger     // nil: nothing is logged
	Window     int              // messages of one connection between arrival and PUBACK, at most 256; 0: 64
	RetryAfter time.Duration    // first wait after the journal failed; doubled each time, up to a minute; 0: 2 s
	Zone       string           // the time zone's IANA name, told to devices with the time
	Paused     bool             // start paused
	Private    PrivateZones     // nil: nothing is private
	OnMoved    func()           // called after an event which shows that the wearer entered or left a private zone; may be nil
	Now        func() time.Time // nil: time.Now
	// LastChange returns when the last pause began or ended; zero: unknown. nil: always unknown.
	LastChange func() time.Time
	// PauseBy is the gesture that pauses; empty: none does. OnPressed is called for each such press,
	// in order, even during a pause. It must not wait for this intake to close.
	PauseBy   string
	OnPressed func(device string, at time.Time)
	// SealTo is the journal's recipient, which is sent to devices that store messages; empty: it is
	// not sent.
	SealTo string
	// WasPaused reports whether the wearer had paused at a time; nil: never.
	WasPaused func(at time.Time) bool
}

// Intake orders the messages of all transports and journals them in batches. It is
// safe for concurrent use.
type Intake struct {
	cfg           Config
	log           *slog.Logger
	stats         counters
	clocks        wire.Clocks
	fleet         fleet
	payloadBudget *budget   // limits the bytes of payloads that wait
	startedAt     time.Time // when New was called

	verifier *verifier // shared by broker and web, so that both count the same guesses

	mu     sync.RWMutex // held for reading while a message is put into queue, and for writing while closed is set
	closed bool         // guarded by mu
	queue  chan *delivery
	done   chan struct{} // closed when the appender has ended
}

// New starts an intake. Close it after its transports.
func New(cfg Config) *Intake {
	if cfg.Window <= 0 {
		cfg.Window = defaultWindow
	}
	cfg.Window = min(cfg.Window, wire.MaxSeqs)
	if cfg.RetryAfter <= 0 {
		cfg.RetryAfter = defaultRetry
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	in := &Intake{
		cfg:           cfg,
		log:           cfg.Log,
		fleet:         fleet{paused: cfg.Paused, devices: map[string]*device{}},
		payloadBudget: newBudget(maxQueueBytes),
		queue:         make(chan *delivery, maxBatch),
		done:          make(chan struct{}),
		startedAt:     cfg.Now(),

		verifier: newVerifier(),
	}
	in.stats.Received = map[memory.Kind]uint64{}
	in.stats.Rejected, in.stats.Private = map[string]uint64{}, map[string]uint64{}
	in.stats.logged = map[string]bool{}
	go in.run()
	return in
}

// Stats returns counts of what has arrived so far.
func (in *Intake) Stats() Stats { return in.stats.snapshot() }

// Close journals what has arrived and ends. It is safe to call twice.
func (in *Intake) Close() error {
	in.mu.Lock()
	if !in.closed {
		in.closed = true
		close(in.queue)
	}
	in.mu.Unlock()
	<-in.done
	return nil
}

type outcome uint8

const (
	pending   outcome = iota // for the journal
	journaled                // on disk, now or from an earlier delivery
	dropped                  // because of a pause, a private zone, or as the press that pauses
	refused                  // for good
	deferred                 // not now
	stale                    // an old retained message about the wearer, which the broker had kept: dropped without an answer
)

// delivery is one message on its way from a transport to the journal.
type delivery struct {
	conn        *conn
	device      string
	kind        memory.Kind
	format      wire.Format
	event       memory.Event
	hasID       bool // event.ID was read, even if the rest of the message is malformed
	outcome     outcome
	err         error
	size        int64
	crc         uint32        // CRC-32 of the whole payload of a refused message
	payload     []byte        // the beginning of a refused payload
	weight      int           // bytes that it takes of Intake.room
	private     string        // reason of the private zone because of which it was dropped; empty: none
	inPastPause bool          // it happened in a pause that is over, and was dropped for that reason
	greet       bool          // tell the device the time and whether it is paused
	isPress     bool          // the press that begins or ends a pause
	pressEvent  memory.Event  // the event of that press; event itself is cleared when it is dropped
	moved       bool          // the wearer entered or left a private zone, so devices may have to be told
	puback      func()        // nil: QoS 0
	decided     chan struct{} // nil, or closed when the outcome is known
}

// arrival is a message in the form in which a transport hands it over.
type arrival struct {
	topic    string
	payload  []byte
	retained bool   // kept by the broker from earlier
	oversize int64  // length of a payload that was too large and was skipped; 0: the payload is here
	crc      uint32 // CRC-32 of the skipped payload
	puback   func()
}

// accept decodes a message, decides what to do with it, and queues it for the journal. It waits while
// there is no room. It returns false if the intake or the connection is closed.
func (in *Intake) accept(c *conn, a arrival) (*delivery, bool) {
	d := &delivery{conn: c, puback: a.puback, size: int64(len(a.payload))}
	in.decode(d, a)
	if !c.enter() {
		return nil, false
	}
	d.weight = len(a.payload) + 256 // plus an estimate of what it needs besides
	in.payloadBudget.acquire(d.weight)
	in.mu.RLock()
	defer in.mu.RUnlock()
	if in.closed {
		in.payloadBudget.release(d.weight)
		c.leave()
		return nil, false
	}
	d.decided = make(chan struct{})
	in.queue <- d
	return d, true
}

// decode decodes a message and sets its outcome: refused if it is malformed, stale, dropped because
// of a pause or a private zone, and otherwise pending.
func (in *Intake) decode(d *delivery, a arrival) {
	received := in.cfg.Now()
	var m wire.Message
	var head *wire.Header
	d.device, d.kind, d.err = wire.ParseTopic(a.topic)
	switch {
	case d.err != nil:
		d.device, d.kind = splitTopic(a.topic)
		d.crc = crc32.ChecksumIEEE(a.payload)
	case a.oversize > 0:
		d.err = &wire.Error{Kind: d.kind, Problem: wire.TooLarge, Detail: "payload is larger than this node takes"}
		d.size, d.crc = a.oversize, a.crc
	default:
		m, head, d.err = wire.Decode(d.kind, a.payload)
	}
	in.stats.count(func(s *Stats) {
		s.Received[statsKind(d.kind)]++
		s.Bytes += uint64(len(a.payload))
		if head != nil {
			s.Unknown += uint64(head.Unknown)
		}
	})
	if f, err := wire.Detect(a.payload); err == nil {
		d.format = f
		in.fleet.noteFormat(d.device, f, d.conn.out)
	} else {
		d.format = in.fleet.format(d.device)
	}
	if head != nil {
		d.hasID, d.event.ID = true, memory.EventID{Device: d.device, Boot: head.Boot, Seq: head.Seq}
	}
	if d.err != nil {
		d.outcome = refused
		if !d.hasID && a.oversize == 0 {
			d.crc = crc32.ChecksumIEEE(a.payload)
		}
		d.payload = append([]byte(nil), a.payload[:min(len(a.payload), MaxKept)]...)
		return
	}
	if a.retained && isContent(d.kind) {
		// It arrived once before, when it was new. At that time there may have been a pause or a
		// private zone, and nothing shows that now.
		d.outcome = stale
		return
	}
	clocks := &in.clocks
	if a.retained {
		clocks = nil // its uptime is an old one
	}
	d.event = wire.Event(d.device, m, received, clocks)
	if d.event.Metadata[wire.MetaDeviceAt] != "" {
		in.stats.count(func(s *Stats) { s.Unbelieved++ })
		in.logOnce("clock "+d.device, "device clock is not believed", "device", d.device)
	}
	d.inPastPause = in.storedInPause(&d.event)
	paused := in.fleet.isPaused() || d.inPastPause
	if in.cfg.Private != nil && !a.retained {
		d.private, d.moved = in.cfg.Private.CheckEvent(&d.event)
	}
	if paused {
		d.private = ""
	}
	if d.isPress = in.isPausePress(d.device, m); d.isPress {
		d.pressEvent = d.event
	}
	if d.isPress || (paused || d.private != "") && isContent(d.kind) {
		d.outcome = dropped
		d.event = memory.Event{ID: d.event.ID}
	}
	d.greet = d.kind == memory.KindHello && !a.retained
	if h, ok := m.(*wire.Hello); ok && d.greet {
		in.fleet.noteHello(d.device, h)
	}
}

// storedAfter is the delay from which an event counts as stored by the device. A smaller delay may come
// from a slow clock.
const storedAfter = 2 * time.Minute

// storedInPause reports whether an event happened in a pause that is over. Its device was out of
// reach then, and did not know of the pause.
func (in *Intake) storedInPause(e *memory.Event) bool {
	return in.cfg.WasPaused != nil && e.Clock != memory.ClockNone && e.Received.Sub(e.At) > storedAfter && in.cfg.WasPaused(e.At)
}

// isContent reports whether events of a kind tell something about the wearer, rather than the device.
func isContent(k memory.Kind) bool {
	return k != memory.KindHello && k != memory.KindStatus && k != memory.KindGap
}

func statsKind(k memory.Kind) memory.Kind {
	for _, known := range wire.Kinds {
		if k == known {
			return k
		}
	}
	return "other"
}

func (in *Intake) logOnce(key, msg string, args ...any) {
	if in.stats.isFirst(key) {
		in.log.Warn("intake: "+msg+" (logged once, counted from now on)", args...)
	}
}
