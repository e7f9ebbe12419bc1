// Package homeassistant shows a node in Home Assistant, by MQTT discovery over the broker that
// Home Assistant has: a switch that pauses the taking of events, the battery of each wearable and
// when it was last heard, and what waits to be processed. With the key of an app there are also
// the newest memory that the app sees, as an event, and a text field for questions.
//
//   - Memories are sent to the broker as far as that app may see them, and are listed in the
//     app's log. Without a key, nothing that was said or remembered is sent.
//   - The description is sent at each connection, and when Home Assistant says that it
//     has started. It is retained, and entities that are gone are removed from it.
//   - Anybody who may publish at the broker can pause the node, and ask questions.
package homeassistant

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Config says which broker is used, and what is shown.
type Config struct {
	URL                string // of the broker: tcp, ssl, mqtt, mqtts, ws or wss
	Username, Password string
	TLS                *tls.Config // nil: the system's authorities
	Prefix             string      // of Home Assistant's discovery topics; empty: "homeassistant"
	ID                 string      // identifies this node among others: a-z, 0-9 and _
	Version            string      // Locket's version
	Node               Node
	Listed             bool          // Node lists all wearables; otherwise only those that were heard since the start
	App                *serve.Client // makes requests with an app's key; nil: there are no memories and no questions
	Every              time.Duration // how often the state is checked; 0: 15 s
	Log                *slog.Logger  // nil: nothing is logged
}

// Node is what Home Assistant shows and switches of a node, with the owner's rights.
type Node struct {
	serve.Devices
	serve.Intake
	serve.Diagnostics
	serve.Watcher
}

const (
	patience    = 10 * time.Second // for each step of connecting
	askTime     = 2 * time.Minute  // for an answer
	maxQuestion = 255              // characters, as Home Assistant's text has
	maxState    = 255              // characters of a state
	maxText     = 4000             // bytes of a memory's or an answer's text
)

// Run shows the node until ctx ends.
func Run(ctx context.Context, c Config) {
	c.Prefix = cmp.Or(c.Prefix, "homeassistant")
	if c.Every <= 0 {
		c.Every = 15 * time.Second
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	pace, told := retry.Backoff{First: time.Second, Most: time.Minute}, ""
	for ctx.Err() == nil {
		began := time.Now()
		err := session(ctx, &c)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > time.Minute {
			pace.Reset()
		}
		if told != err.Error() { // once, not at each attempt
			told = err.Error()
			c.Log.Warn("Home Assistant's broker is not reached", "error", err)
		}
		pace.Wait(ctx)
	}
}

// conn is one connection.
type conn struct {
	*Config
	mqtt  mqtt.Client
	shown map[string]string // by topic: what was published last
	parts map[string]bool   // components that are described now
	last  memory.ID         // the newest memory that was seen
	begun bool              // last was determined

	changed atomic.Bool // something was remembered since the app looked last
}

// inbox is what came from the broker.
type inbox struct {
	topic, text string
	retained    bool
}

func session(ctx context.Context, cfg *Config) (err error) {
	c := &conn{Config: cfg, shown: map[string]string{}, parts: map[string]bool{}}
	c.changed.Store(true)
	lost, in := make(chan error, 1), make(chan inbox, 16)
	c.mqtt = c.client(lost, in)
	if err := done(ctx, c.mqtt.Connect()); err != nil {
		return err
	}
	defer c.mqtt.Disconnect(250)
	defer func() {
		// The broker publishes the will only if a connection is lost. When ctx ends, it may also
		// have interrupted another step than the wait for a message.
		if ctx.Err() != nil {
			err = c.publish("availability", "offline", true)
		}
	}()
	if err := done(ctx, c.mqtt.SubscribeMultiple(map[string]byte{
		cfg.Prefix + "/status": 1, c.description(): 1, c.topic("pause/set"): 1, c.topic("question/set"): 1,
	}, nil)); err != nil {
		return err
	}
	answers := make(chan answer, 1)
	asking, stop := context.WithCancel(ctx)
	var busy chan struct{} // closed when the current question is answered
	var watching sync.WaitGroup
	watching.Go(func() { c.watch(asking) })
	defer func() {
		stop()
		watching.Wait()
		if busy != nil {
			<-busy
		}
	}()
	tick := time.NewTicker(cfg.Every)
	defer tick.Stop()
	if err := c.refresh(ctx, true); err != nil {
		return err
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err = <-lost:
		case <-tick.C:
			err = c.refresh(ctx, false)
		case a := <-answers:
			busy = nil
			err = c.answered(a)
		case m := <-in:
			switch {
			case m.topic == cfg.Prefix+"/status":
				if m.text == "online" && !m.retained {
					err = c.refresh(ctx, true)
				}
			case m.topic == c.description():
				c.clear(m.text)
			case m.retained: // a command is valid only when it is given
			case m.topic == c.topic("pause/set"):
				err = c.pause(ctx, m.text)
			case m.topic == c.topic("question/set") && cfg.App != nil:
				if q := strings.TrimSpace(m.text); busy == nil && q != "" && len([]rune(q)) <= maxQuestion {
					busy = make(chan struct{})
					go c.ask(asking, q, answers, busy)
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// client makes an MQTT client that sends messages to in, and the end of its connection to lost,
// which has room for it.
func (c *conn) client(lost chan<- error, in chan<- inbox) mqtt.Client {
	o := mqtt.NewClientOptions().AddBroker(c.URL).SetClientID(c.ID).SetUsername(c.Username).SetPassword(c.Password).
		SetProtocolVersion(4).SetCleanSession(true).SetOrderMatters(true).SetAutoReconnect(false).SetConnectRetry(false).
		SetConnectTimeout(patience).SetWriteTimeout(patience).
		SetWill(c.topic("availability"), "offline", 1, true).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { lost <- err }).
		SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) {
			select {
			case in <- inbox{m.Topic(), string(m.Payload()), m.Retained()}:
			default: // messages that arrive faster than they are handled are dropped
			}
		})
	if c.TLS != nil {
		o.SetTLSConfig(c.TLS)
	}
	return mqtt.NewClient(o)
}

func done(ctx context.Context, t mqtt.Token) error {
	select {
	case <-t.Done():
		return t.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// topic returns a topic of this node's own.
func (c *conn) topic(name string) string { return "locket/home/" + c.ID + "/" + name }

// publish sends a message on a topic of the node's own. A retained message is sent only if it
// differs from the previous one.
func (c *conn) publish(name, text string, retain bool) error {
	return c.send(c.topic(name), text, retain)
}

func (c *conn) send(topic, text string, retain bool) error {
	if was, ok := c.shown[topic]; retain && ok && was == text {
		return nil
	}
	t := c.mqtt.Publish(topic, 1, retain, text)
	if !t.WaitTimeout(patience) {
		return errors.New("the broker does not answer")
	}
	if err := t.Error(); err != nil {
		return err
	}
	if retain {
		c.shown[topic] = text
	}
	return nil
}

// refresh publishes what has changed; if again is set, it publishes everything, with the
// description.
func (c *conn) refresh(ctx context.Context, again bool) error {
	if again {
		clear(c.shown)
	}
	devices, err := c.Node.Devices.Devices(ctx)
	if err != nil {
		return err
	}
	s, err := c.Node.Status(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(c.describe(devices))
	if err != nil {
		return err
	}
	if err := errors.Join(c.send(c.description(), string(text), true), c.publish("availability", "online", true),
		c.publish("pause", onOff(s.Pause.Paused), true), c.publish("waiting", number(s.Journal.Waiting), true)); err != nil {
		return err
	}
	for _, d := range devices {
		if err := c.wearable(&d); err != nil {
			return err
		}
	}
	// The app looks only when there may be something new, because each look costs some of its
	// tokens.
	if c.App == nil || s.Locked || !c.changed.Swap(false) {
		return nil
	}
	return c.newest(ctx)
}

// watch records that something has changed, until ctx ends. In a locked node nothing changes.
func (c *conn) watch(ctx context.Context) {
	for ctx.Err() == nil {
		for _, err := range c.Node.Watch(ctx) {
			if err != nil {
				break
			}
			c.changed.Store(true)
		}
		wait.For(ctx, c.Every)
	}
}

// wearable publishes what is known about a wearable. Unknown values are "None", which Home
// Assistant shows as unknown.
func (c *conn) wearable(d *serve.Device) error {
	battery, heard := "None", "None"
	if d.Battery != nil {
		battery = number(*d.Battery)
	}
	if !d.LastSeen.IsZero() {
		heard = d.LastSeen.UTC().Format(time.RFC3339)
	}
	return errors.Join(c.publish("wearable/"+d.Name+"/battery", battery, true), c.publish("wearable/"+d.Name+"/heard", heard, true))
}

// pause pauses or resumes the taking of events.
func (c *conn) pause(ctx context.Context, text string) (err error) {
	switch text {
	case "ON":
		_, err = c.Node.Pause(ctx, time.Time{})
	case "OFF":
		_, err = c.Node.Resume(ctx)
	default:
		return nil
	}
	if err != nil {
		c.Log.Warn("could not pause or resume for Home Assistant", "error", err)
	}
	return c.refresh(ctx, false)
}

// newest publishes the newest memory that the app sees, if that has changed.
func (c *conn) newest(ctx context.Context) error {
	page, err := c.App.List(ctx, serve.ListQuery{Limit: 1})
	if err != nil {
		c.changed.Store(true)
		c.Log.Debug("could not show the newest memory in Home Assistant", "error", err)
		return nil
	}
	var id memory.ID
	if len(page.Memories) > 0 {
		id = page.Memories[0].ID
	}
	first := !c.begun
	if c.begun = true; first || id == c.last || id.IsZero() {
		c.last = id
		return nil
	}
	c.last = id
	m := &page.Memories[0]
	text, err := json.Marshal(map[string]any{"event_type": "added", "id": m.ID, "type": m.Type, "text": cut(m.Text, maxText), "learnt": m.Learnt})
	if err != nil {
		return err
	}
	return c.publish("memory", string(text), false)
}

// answer is the answer to a question.
type answer struct {
	Question string   `json:"question"`
	State    string   `json:"state"` // as much of Answer as fits into a state
	Answer   string   `json:"answer"`
	Known    bool     `json:"known"`
	Cites    []string `json:"cites"`
}

// ask asks a question as the app.
func (c *conn) ask(ctx context.Context, question string, answers chan<- answer, done chan<- struct{}) {
	defer close(done)
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a := answer{Question: question, Cites: []string{}}
	res, err := c.App.Ask(ctx, serve.AskRequest{Question: question})
	switch {
	case err != nil:
		a.Answer = "not answered: " + err.Error()
	case res.Answer != "":
		a.Answer, a.Known = res.Answer, res.Known
		for _, it := range res.Citations {
			a.Cites = append(a.Cites, it.Cite)
		}
	default: // there is no model: the evidence is the answer
		a.Known = res.Known
		var lines []string
		for _, it := range res.Evidence[:min(len(res.Evidence), 3)] {
			lines, a.Cites = append(lines, it.Text), append(a.Cites, it.Cite)
		}
		if a.Answer = strings.Join(lines, "\n"); !res.Known {
			a.Answer = "not known"
		}
	}
	a.Answer = cut(a.Answer, maxText)
	a.State = string([]rune(a.Answer)[:min(len([]rune(a.Answer)), maxState)])
	answers <- a // which has room for one; there is only one question at a time
}

func (c *conn) answered(a answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return errors.Join(c.publish("question", a.Question, false), c.publish("answer", string(text), false))
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
