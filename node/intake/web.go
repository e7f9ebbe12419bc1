package intake

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// WebConfig is the configuration of a [Web]. Devices must be set.
type WebConfig struct {
	Devices Devices
	// Admit is called with a request whose password was right, and reports whether it may continue;
	// nil: it may.
	Admit func(r *http.Request, device string) bool
}

// Web takes messages of this node's devices over HTTP, for programs that can't speak MQTT,
// such as a page in a browser:
//
//	POST …/LEAF   one message in JSON; the answer comes once it is on disk
//	GET …         asks for commands alone
//
// Both require the device's name and password as HTTP Basic credentials, and answer with a
// [WebAnswer]. Its methods are safe for concurrent use.
type Web struct {
	intake *Intake
	cfg    WebConfig

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup // requests
	boxes    map[string]*mailbox
}

// WebAnswer is the node's answer to a request: what it would publish on the device's ack and cmd
// topics.
type WebAnswer struct {
	Ack []json.RawMessage `json:"ack"`
	Cmd []json.RawMessage `json:"cmd"` // always includes whether to pause
}

// NewWeb makes a Web. Close it before its intake.
func NewWeb(in *Intake, cfg WebConfig) *Web {
	return &Web{intake: in, cfg: cfg, boxes: map[string]*mailbox{}}
}

// Close waits until every request is answered, and refuses new ones. It is safe to call twice.
func (w *Web) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.requests.Wait()
}

// webAway is the time without a request after which a device counts as not connected, and commands
// for it are dropped.
const webAway = time.Minute

// Connected reports whether a device has made a request within the last minute.
func (w *Web) Connected(device string) bool {
	w.mu.Lock()
	b := w.boxes[device]
	w.mu.Unlock()
	return b != nil && b.requestedSince(w.intake.cfg.Now().Add(-webAway))
}

// begin counts a request; it returns false if the Web is closed.
func (w *Web) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.requests.Add(1)
	}
	return !w.closed
}

// ServeHTTP implements http.Handler. The leaf is the path's wildcard "leaf".
func (w *Web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if !w.begin() {
		refuse(out, http.StatusServiceUnavailable, "the node is stopping: send it again")
		return
	}
	defer w.requests.Done()
	// A page of another site can't read the answer and has no password, so it need not get a try.
	if from := r.Header.Get("Sec-Fetch-Site"); from != "" && from != "same-origin" && from != "none" {
		refuse(out, http.StatusForbidden, "a page of another site asks")
		return
	}
	name, password, ok := r.BasicAuth()
	if ok = ok && wire.CheckDevice(name) == nil; ok {
		hash, enabled := w.cfg.Devices.Lookup(name)
		ok = enabled && w.intake.verifier.check(name, hash, []byte(password), hostOf(r.RemoteAddr))
	}
	if !ok {
		w.intake.stats.count(func(s *Stats) { s.Denied++ })
		w.intake.logOnce("denied web", "a request over HTTP was refused: unknown device, or wrong password")
		refuse(out, http.StatusUnauthorized, "unknown device, or wrong password: locket wearable add makes one")
		return
	}
	if w.cfg.Admit != nil && !w.cfg.Admit(r, name) {
		refuse(out, http.StatusTooManyRequests, "this device has too many connections")
		return
	}
	box := w.mailboxOf(name)
	box.requesting.Lock() // so that the answer has the acks of this request
	defer box.requesting.Unlock()
	box.noteRequest(w.intake.cfg.Now())
	if r.Method == http.MethodPost && !w.post(out, r, name, box) {
		return
	}
	answer := box.drain(w.intake.cfg.Now())
	if b, err := wire.EncodeCmd(w.intake.pauseCmd(), wire.JSON); err == nil {
		answer.Cmd = append(answer.Cmd, b)
	}
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(answer) // a device that went away sends its message again
}

// post takes a message, and waits until it is on disk or refused. If it returns false, it has
// answered.
func (w *Web) post(out http.ResponseWriter, r *http.Request, name string, box *mailbox) bool {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		refuse(out, http.StatusUnsupportedMediaType, "a message over HTTP has to be application/json")
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, wire.MaxPayload))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		refuse(out, http.StatusRequestEntityTooLarge, "a message has at most "+strconv.Itoa(wire.MaxPayload)+" bytes")
		return false
	}
	if err != nil {
		refuse(out, http.StatusBadRequest, "the message did not arrive whole")
		return false
	}
	if f, err := wire.Detect(body); err != nil || f != wire.JSON {
		refuse(out, http.StatusUnsupportedMediaType, "a message over HTTP is a JSON object")
		return false
	}
	c := w.intake.connect(box, func() {})
	d, ok := w.intake.accept(c, arrival{topic: wire.TopicOf(name, memory.Kind(r.PathValue("leaf"))), payload: body})
	c.close()
	if !ok {
		refuse(out, http.StatusServiceUnavailable, "the node is stopping: send it again")
		return false
	}
	<-d.decided
	return true
}

func (w *Web) mailboxOf(name string) *mailbox {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.boxes[name]
	if b == nil {
		b = &mailbox{now: w.intake.cfg.Now}
		w.boxes[name] = b
	}
	return b
}

// mailbox keeps what the node says to a device until the device asks. Only devices with a correct
// password have one.
type mailbox struct {
	requesting sync.Mutex // held during a request
	now        func() time.Time

	mu          sync.Mutex
	ack         []json.RawMessage
	cmd         []command
	lastRequest time.Time
}

// command is a waiting command, and since when it waits.
type command struct {
	payload json.RawMessage
	at      time.Time
}

// mailboxSize is how many acks and how many commands wait; the oldest are dropped first. A message
// whose ack is lost comes again. A command waits for webAway: nobody wants a photo, or sees an
// answer, hours after asking for it.
const mailboxSize = 32

// publish implements outlet.
func (b *mailbox) publish(topic string, payload []byte, _ byte, _ bool) error {
	device, _ := splitTopic(topic)
	if f, err := wire.Detect(payload); err != nil || f != wire.JSON {
		return nil // from before the device's first request
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if topic == wire.AckTopic(device) {
		b.ack = appendLatest(b.ack, append(json.RawMessage(nil), payload...))
		return nil
	}
	var c struct {
		Cmd string `json:"cmd"`
	}
	if err := json.Unmarshal(payload, &c); err != nil || c.Cmd == wire.CmdPause || c.Cmd == wire.CmdResume {
		return err // each answer says that anew
	}
	b.cmd = appendLatest(b.cmd, command{append(json.RawMessage(nil), payload...), b.now()})
	return nil
}

func appendLatest[T any](list []T, next T) []T {
	list = append(list, next)
	return list[max(0, len(list)-mailboxSize):]
}

// drain returns what waits at a time, and empties the mailbox.
func (b *mailbox) drain(now time.Time) WebAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := WebAnswer{Ack: append([]json.RawMessage{}, b.ack...)}
	for _, c := range b.cmd {
		if now.Sub(c.at) <= webAway {
			out.Cmd = append(out.Cmd, c.payload)
		}
	}
	b.ack, b.cmd = nil, nil
	return out
}

func (b *mailbox) noteRequest(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastRequest = now
}

func (b *mailbox) requestedSince(t time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lastRequest.After(t)
}

// refuse answers in the form of the API's problems.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail})
}
