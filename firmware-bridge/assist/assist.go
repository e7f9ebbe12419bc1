// Package assist is a Wyoming server that Home Assistant's Assist asks about what its wearer
// remembers. It handles a *transcript* (the words that were said) and recognizes one *intent* in
// them, a question. It passes both to the node, with an app's key.
//
//	describe               info, with the programs
//	transcript{text}    handled{text}, or not-handled{text} if nothing is known
//	recognize{text}        intent{name,entities,text}, or not-recognized{text}
//	intent{name,entities} handled{text} or not-handled{text}, for this server's own intent
//	ping{text}             pong{text}
//
// Events of speech recognition (transcribe, audio-start, audio-chunk, audio-stop) pass to the
// engine that the configuration names, and its transcript passes back.
//
// The events are those of OHF-Voice/wyoming (wyoming/info.py, handle.py, intent.py); what
// Home Assistant does with them is in homeassistant/components/wyoming/conversation.py.
//
// Wyoming has neither passwords nor encryption, so the address decides who may ask.
package assist

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/internal/accept"
	"github.com/locket-dev/locket/internal/clientaddr"
)

// Limits for each peer, so that no peer can use up another's share.
const (
	perMinute   = 30               // questions of a peer, and as many utterances, a minute
	perPeer     = 8                // connections of a peer
	maxQuestion = 2000             // bytes of a question
	idle        = time.Minute      // time without a whole event after which the connection ends
	askTime     = 30 * time.Second // timeout of the node's answer
	writeTime   = 10 * time.Second
)

// Answer is the node's answer.
type Answer struct {
	Text  string // empty: the node has no text of its own
	Known bool   // false: the memory has no answer
}

// Config says who may ask, and which node answers.
type Config struct {
	// Peers are the addresses and networks that may ask. Empty: those of loopback.
	Peers clientaddr.Proxies
	// Ask asks the node. It is called by several goroutines at once.
	Ask func(ctx context.Context, question string) (Answer, error)
	// Intent makes info list the recognizing program, too. Home Assistant takes a server with such
	// a program for one that controls the house, and then no longer answers by itself what the
	// state of a thing is. Recognize is answered with and without it.
	Intent    bool
	Ears      string           // HOST:PORT of an engine that recognizes speech by Wyoming; empty: none
	Version   string           // version of the program
	OnMessage func(string)     // gets messages for a person; called by several goroutines at once
	Now       func() time.Time // nil: time.Now
}

// allows reports whether an address may ask.
func (c *Config) allows(a netip.Addr) bool {
	if len(c.Peers) == 0 {
		return a.IsLoopback()
	}
	return a.IsValid() && c.Peers.Has(a)
}

// server is one run of Serve.
type server struct {
	Config

	mu     sync.Mutex
	open   map[netip.Addr]int // open connections by peer
	minute time.Time          // the minute that asked, spoken and turned count
	asked  map[netip.Addr]int // questions by peer
	spoken map[netip.Addr]int // utterances by peer
	turned int                // connections of strangers that were turned away

	work    sync.WaitGroup
	heard   []any     // programs of the speech engine; guarded by mu, as are the next two
	askedAt time.Time // when the engine last answered, or failed to
	asking  bool
}

// toldStrangers is how many strangers a minute are reported to a person.
const toldStrangers = 3

// Serve answers at l until ctx ends, and closes it. Its error is the listener's.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &server{Config: c, open: map[netip.Addr]int{}, asked: map[netip.Addr]int{}, spoken: map[netip.Addr]int{}}
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer s.work.Wait()
	defer cancel()
	s.programs(ctx) // so that the programs are known when the first peer asks
	for {
		conn, err := accept.Next(l)
		if err != nil {
			l.Close()
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("listen for Assist: %w", err)
		}
		peer := clientaddr.Parse(conn.RemoteAddr().String())
		if why := s.enter(peer); why != "" {
			conn.Close()
			continue
		}
		s.work.Go(func() {
			defer s.leave(peer)
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			s.converse(ctx, conn, clientaddr.Customer(peer))
		})
	}
}

// enter admits a peer, or says why it is refused.
func (s *server) enter(peer netip.Addr) (why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turnMinute()
	if !s.allows(peer) {
		if s.turned++; s.turned <= toldStrangers {
			s.OnMessage(fmt.Sprintf("%s wanted to ask, and is not among the peers", peer))
		}
		return "not a peer"
	}
	c := clientaddr.Customer(peer)
	if s.open[c] >= perPeer {
		return "too many connections"
	}
	s.open[c]++
	return ""
}

func (s *server) leave(peer netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := clientaddr.Customer(peer)
	if s.open[c]--; s.open[c] == 0 {
		delete(s.open, c)
	}
}

// turnMinute starts the counts anew each minute, so that the maps do not grow. The caller holds
// s.mu.
func (s *server) turnMinute() {
	if m := s.Now().Truncate(time.Minute); !m.Equal(s.minute) {
		s.minute, s.turned = m, 0
		clear(s.asked)
		clear(s.spoken)
	}
}

// may takes one from a peer's allowance for this minute, in s.asked or s.spoken. It reports false
// if none is left.
func (s *server) may(count map[netip.Addr]int, customer netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turnMinute()
	if count[customer] >= perMinute {
		return false
	}
	count[customer]++
	return true
}

// converse answers the events of one connection, one after the other.
func (s *server) converse(ctx context.Context, conn net.Conn, customer netip.Addr) {
	var in frame.Decoder
	var hears ears
	defer hears.end()
	b := make([]byte, 16<<10)
	for {
		if conn.SetReadDeadline(time.Now().Add(idle)) != nil {
			return
		}
		for whole := false; !whole; {
			n, err := conn.Read(b)
			list, bad := in.Push(b[:n])
			whole = len(list) > 0
			for i := range list {
				if s.Ears != "" && ofSound(list[i].Type) {
					if s.pass(ctx, conn, &hears, &list[i], func() bool { return s.may(s.spoken, customer) }) != nil {
						return
					}
					continue
				}
				if out := s.answer(ctx, &list[i], customer); out != nil && writeEvent(conn, *out) != nil {
					return
				}
			}
			if bad != nil { // what follows can't be read
				_ = writeEvent(conn, wrong(bad.Error())) // the connection ends whether or not it was heard
				return
			}
			if err != nil {
				return
			}
		}
	}
}

func writeEvent(conn net.Conn, e frame.Event) error {
	b, err := frame.Append(nil, e)
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	_, err = conn.Write(b)
	return err
}

func wrong(text string) frame.Event {
	return frame.Event{Type: "error", Data: map[string]any{"text": text, "code": "bad-event"}}
}

// intentName is the one intent: a question to the memory, in the entity "question".
const intentName = "LocketAsk"

// answer returns the reply to an event; nil: no reply, as for events of other services.
func (s *server) answer(ctx context.Context, e *frame.Event, customer netip.Addr) *frame.Event {
	var question, yes, no string
	switch e.Type {
	case "describe":
		return &frame.Event{Type: "info", Data: s.info(ctx)}
	case "ping":
		return &frame.Event{Type: "pong", Data: map[string]any{"text": e.Data["text"]}}
	case "transcript":
		yes, no = "handled", "not-handled"
	case "recognize":
		yes, no = "intent", "not-recognized"
	case "intent":
		yes, no = "handled", "not-handled"
		if e.Text("name") != intentName {
			return &frame.Event{Type: no, Data: map[string]any{"text": words("", notMine)}}
		}
		question = entity(e, "question")
	default:
		return nil
	}
	if e.Type != "intent" {
		var ok bool
		if question, ok = e.Data["text"].(string); !ok {
			out := wrong(e.Type + ": text: want a string")
			return &out
		}
	}
	text, known := s.ask(ctx, strings.TrimSpace(question), customer)
	out := frame.Event{Type: no, Data: map[string]any{"text": text}}
	if known {
		out.Type = yes
		if yes == "intent" {
			out.Data["name"], out.Data["entities"] = intentName, []any{map[string]any{"name": "question", "value": question}}
		}
	}
	return &out
}

// entity returns the text of an intent's entity; empty: the intent does not have it.
func entity(e *frame.Event, name string) string {
	list, _ := e.Data["entities"].([]any)
	for _, it := range list {
		if m, ok := it.(map[string]any); ok && m["name"] == name {
			v, _ := m["value"].(string)
			return v
		}
	}
	return ""
}

// ask returns what Assist is to say. It is never empty, because the question was asked aloud.
func (s *server) ask(ctx context.Context, question string, customer netip.Addr) (text string, known bool) {
	switch {
	case question == "":
		return words(question, nothing), false
	case len(question) > maxQuestion:
		return words(question, tooLong), false
	case !s.may(s.asked, customer):
		return words(question, tooMany), false
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a, err := s.Ask(ctx, question)
	switch {
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			s.OnMessage(fmt.Sprintf("a question could not be answered: %v", err))
		}
		return words(question, away), false
	case !a.Known || a.Text == "":
		return words(question, unknown), false
	}
	return a.Text, true
}

// What is said if there is no memory, in the languages that the node answers in.
var (
	unknown = said{"I don't know.", "我不知道。"}
	nothing = said{"I heard no question.", "我没有听到问题。"}
	tooLong = said{"That question is too long.", "这个问题太长了。"}
	tooMany = said{"Those were too many questions. Ask me again in a minute.", "问题太多了,请一分钟后再问。"}
	away    = said{"I can't look into the memory now.", "我现在无法查看记忆。"}
	notMine = said{"That is not for the memory.", "这不是给记忆的。"}
)

type said struct{ en, zh string }

// words picks the sentence in the question's language.
func words(question string, s said) string {
	if strings.ContainsFunc(question, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return s.zh
	}
	return s.en
}

// info lists the programs, with every list that the protocol has. A program needs all keys of an
// Artifact (wyoming/info.py).
func (s *server) info(ctx context.Context) map[string]any {
	artifact := func(name, description string) map[string]any {
		return map[string]any{
			"name": name, "description": description, "installed": true, "version": s.Version,
			"attribution": map[string]any{"name": "Locket", "url": "https://github.com/locket-dev/locket"},
		}
	}
	program := func(description string) []any {
		p, model := artifact("Locket", description), artifact("memory", description)
		model["languages"] = []any{"en", "zh"}
		p["models"] = []any{model}
		return []any{p}
	}
	info := map[string]any{"handle": program("What its wearer remembers")}
	info["asr"] = s.programs(ctx)
	for _, none := range []string{"tts", "intent", "wake", "mic", "snd"} {
		info[none] = []any{}
	}
	if s.Intent {
		info["intent"] = program("Questions to what its wearer remembers")
	}
	return info
}
