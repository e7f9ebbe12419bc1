package intake_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
)

// Topics implements intake.TopicGranter.
func (r *registry) Topics(name string) intake.Topics {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.topics[name]
}

// as returns the command for Mosquitto's client of a name, as a login of the node's broker.
func (n *node) as(t *testing.T, client, login string, args ...string) *exec.Cmd {
	t.Helper()
	host, port, _ := strings.Cut(n.broker.Addr().String(), ":")
	args = append([]string{"-h", host, "-p", port, "-i", login, "-u", login, "-P", n.reg.password[login]}, args...)
	return exec.CommandContext(t.Context(), tool(t, client), args...)
}

// publishes makes a login publish; refused: the broker ends its connection. The broker answers
// QoS 1 before it passes a message on, and the second step of QoS 2 after it.
func (n *node) publishes(t *testing.T, login, topic, payload string, refused bool, args ...string) {
	t.Helper()
	args = append(args, "-q", "2", "-t", topic)
	if payload == "" {
		args = append(args, "-n")
	} else {
		args = append(args, "-m", payload)
	}
	out, err := n.as(t, "mosquitto_pub", login, args...).CombinedOutput()
	if (err != nil) != refused {
		t.Errorf("%s publishes on %s: %v %s", login, topic, err, out)
	}
	for n.broker.Connected(login) { // otherwise a client that takes over before its DISCONNECT was read has its will published
		<-time.After(time.Millisecond)
	}
}

// reads makes a login subscribe, and returns what arrives after that.
func (n *node) reads(t *testing.T, login string, topics ...string) <-chan string {
	t.Helper()
	args := []string{"-d", "-q", "1", "-F", "%t %p"}
	for _, topic := range topics {
		args = append(args, "-t", topic)
	}
	cmd := n.as(t, "mosquitto_sub", login, args...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines, subscribed, refused := make(chan string, 100), make(chan bool), make(chan bool)
	go func() {
		defer close(refused)
		defer close(lines)
		for sc := bufio.NewScanner(pipe); sc.Scan(); {
			switch line := sc.Text(); {
			case strings.HasPrefix(line, "Subscribed"):
				close(subscribed)
			case !strings.HasPrefix(line, "Client "):
				lines <- line
			}
		}
	}()
	select { // retained messages may arrive before the answer to a subscription (MQTT 3.1.1, 3.8.4)
	case <-subscribed:
	case <-refused:
	}
	return lines
}

// Mosquitto's own clients can use the topics that they were given at the node's broker. No
// wildcard gives them a wearable's topics or those of another login. Such messages are not
// events.
func TestThreatForeignTopics(t *testing.T) {
	n := embedded(t, intake.Config{})
	other := newRegistry(t, "home")
	n.reg.mu.Lock()
	n.reg.hash["home"], n.reg.password["home"] = other.hash["home"], other.password["home"]
	n.reg.topics = map[string]intake.Topics{
		"pin":  {Publish: []string{"owntracks/ann/#", "owntracks/will"}},
		"home": {Read: []string{"owntracks/#", "frigate/+/person"}},
	}
	n.reg.mu.Unlock()

	for _, topic := range []string{"#", "+/#", "locket/#", "locket/v1/#", "locket/v1/pin/text", "locket/v1/+/cmd", "frigate/#", "frigate/+/+", "$SYS/#", "$share/a/owntracks/#", "owntrack", "owntracks2/#"} {
		if line, ok := <-n.reads(t, "home", topic); ok {
			t.Errorf("%s: %s", topic, line)
		}
	}
	if line, ok := <-n.reads(t, "pin", "owntracks/ann/#"); ok {
		t.Errorf("who may publish reads: %s", line)
	}
	for _, topic := range []string{"owntracks", "owntracks/bob/phone", "frigate/door/person", "locket/v1/home/text", "locket/home/status"} {
		n.publishes(t, "pin", topic, "x", true)
	}
	n.publishes(t, "home", "owntracks/ann/phone", "x", true)
	n.publishes(t, "glasses", "owntracks/ann/phone", "x", true) // it was given none

	// Retained before, live, a last will, one that is too large, and one that is deleted.
	n.publishes(t, "pin", "owntracks/ann/first", "kept", false, "-r")
	n.publishes(t, "pin", "owntracks/ann/large", strings.Repeat("x", 17<<10), false, "-r") // passes, but is not kept
	got := n.reads(t, "home", "owntracks/#", "frigate/+/person")
	n.publishes(t, "pin", "owntracks/ann/phone", strings.Repeat("x", 65<<10), false)
	n.publishes(t, "pin", "owntracks/ann/phone", `{"_type":"location"}`, false, "--will-topic", "owntracks/will", "--will-payload", "gone")
	n.publishes(t, "pin", "locket/v1/pin/text", `{"seq":1,"boot":1,"text":"not for others"}`, false)
	n.publishes(t, "pin", "owntracks/ann/first", "", false, "-r")
	n.publishes(t, "pin", "owntracks/ann/last", "end", false)
	var all []string
	for line := range got {
		if all = append(all, line); strings.HasSuffix(line, " end") {
			break
		}
	}
	if want := "owntracks/ann/first kept|owntracks/ann/phone {\"_type\":\"location\"}|owntracks/ann/first |owntracks/ann/last end"; strings.Join(all, "|") != want {
		t.Errorf("the reader got %q", all)
	}
	if evs := n.disk.of(memory.KindText); len(evs) != 1 || evs[0].ID.Device != "pin" {
		t.Errorf("events: %+v", evs)
	}

	// A will on a topic that was not given is refused at CONNECT, and removed topics also apply
	// to a reader that is connected.
	n.publishes(t, "pin", "owntracks/ann/phone", "x", true, "--will-topic", "frigate/door/person", "--will-payload", "x")
	n.reg.mu.Lock()
	n.reg.topics["home"] = intake.Topics{Read: []string{"owntracks/ann/last"}}
	n.reg.mu.Unlock()
	n.publishes(t, "pin", "owntracks/ann/phone", "after", false)
	n.publishes(t, "pin", "owntracks/ann/last", "end", false)
	if line := <-got; line != "owntracks/ann/last end" {
		t.Errorf("after the rule was taken away: %s", line)
	}
}

// A will without a payload is valid: it deletes what its topic retains. On the device's own topic
// it is not an event, and does not prevent the connection.
func TestWillWithoutPayload(t *testing.T) {
	n := embedded(t, intake.Config{})
	other := newRegistry(t, "home", "desk")
	n.reg.mu.Lock()
	for _, login := range []string{"home", "desk"} {
		n.reg.hash[login], n.reg.password[login] = other.hash[login], other.password[login]
	}
	n.reg.topics = map[string]intake.Topics{"pin": {Publish: []string{"owntracks/#"}}, "home": {Read: []string{"owntracks/#"}}, "desk": {Read: []string{"owntracks/#"}}}
	n.reg.mu.Unlock()
	n.publishes(t, "pin", "owntracks/here", "yes", false, "-r")
	got := n.reads(t, "home", "owntracks/#")
	if line := <-got; line != "owntracks/here yes" {
		t.Fatal(line)
	}
	for _, topic := range []string{"locket/v1/pin/status", "owntracks/here"} {
		for _, version := range []string{"mqttv311", "mqttv5"} {
			n.publishes(t, "pin", "owntracks/at", "x", false, "-V", version, "--will-topic", topic)
			if line := <-got; line != "owntracks/at x" {
				t.Error(line)
			}
		}
		n.vanishes(t, n.options("pin").SetBinaryWill(topic, nil, 1, true))
	}
	if line := <-got; line != "owntracks/here " {
		t.Errorf("%q", line)
	}
	n.publishes(t, "pin", "owntracks/kept", "yes", false, "-r")
	got = n.reads(t, "desk", "owntracks/#")
	n.publishes(t, "pin", "owntracks/at", "end", false)
	if kept, end := <-got, <-got; kept != "owntracks/kept yes" || end != "owntracks/at end" {
		t.Errorf("it is still retained: %s, %s", kept, end)
	}
}

// A filter that covers a wearable's topics, or is invalid, is refused with its place.
func TestFilters(t *testing.T) {
	for _, bad := range []string{"", "#", "+", "+/a", "locket/#", "locket", "locket/v1/pin/text", "/a", "$SYS/#", "a/#/b", "a/b#", "a/+b", "a\x00", strings.Repeat("a", 201)} {
		for field, topics := range map[string]intake.Topics{"publish": {Publish: []string{"ok/#", bad}}, "read": {Read: []string{bad}}} {
			if err := topics.Check(); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), field+": ") {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	many := intake.Topics{Read: make([]string, 33)}
	if err := many.Check(); !errors.Is(err, memory.ErrInvalid) {
		t.Error(err)
	}
	good := intake.Topics{Publish: []string{"owntracks/ann/phone", "frigate/+/person/snapshot", "homeassistant/#", "lockets/#"}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

// connects sends CONNECT as a login, with MQTT 5, and returns the connection.
func (n *node) connects(t *testing.T, login string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", n.broker.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	text := func(b []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	b := append(text(nil, "MQTT"), 5, 0xc2, 0, 60, 0)
	b = text(text(text(b, login), login), n.reg.password[login])
	if _, err := c.Write(append([]byte{0x10, byte(len(b))}, b...)); err != nil {
		t.Fatal(err)
	}
	ack := make([]byte, 2)
	if _, err := io.ReadFull(c, ack); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, ack[1])
	if _, err := io.ReadFull(c, rest); err != nil || ack[0] != 0x20 || rest[1] != 0 {
		t.Fatalf("%x %x, %v", ack, rest, err)
	}
	return c
}

// listens makes a login subscribe, and returns what arrives.
func (n *node) listens(t *testing.T, login, topic string) <-chan string {
	t.Helper()
	got, c := make(chan string, 2000), n.raw(t, login, true)
	if err := await(t, c.Subscribe(topic, 0, func(_ mqtt.Client, m mqtt.Message) { got <- m.Topic() + " " + string(m.Payload()) })); err != nil {
		t.Fatal(err)
	}
	return got
}

// A login has a share of what the broker keeps in memory, and the others have theirs.
func TestThreatLoginFillsTheBroker(t *testing.T) {
	n := embedded(t, intake.Config{})
	other := newRegistry(t, "home", "desk")
	n.reg.mu.Lock()
	for _, login := range []string{"home", "desk"} {
		n.reg.hash[login], n.reg.password[login] = other.hash[login], other.password[login]
	}
	n.reg.topics = map[string]intake.Topics{"pin": {Publish: []string{"owntracks/#"}, Read: []string{"owntracks/#"}}, "home": {Publish: []string{"frigate/#"}}, "desk": {Read: []string{"frigate/#", "owntracks/#"}}}
	n.reg.mu.Unlock()

	pin := n.raw(t, "pin", true)
	large := strings.Repeat("x", 15<<10)
	for i := range 300 {
		if err := await(t, pin.Publish(fmt.Sprintf("owntracks/%d", i%150), 1, true, large[:1+i/150*len(large[1:])])); err != nil {
			t.Fatal(err)
		}
	}
	n.publishes(t, "home", "frigate/door", "kept", false, "-r")
	long := strings.Repeat("x", 60<<10) // beside a small payload
	n.publishes(t, "home", "frigate/large", "x", false, "-V", "mqttv5", "-D", "publish", "user-property", "a", long, "-D", "publish", "user-property", "b", long)
	n.publishes(t, "home", "frigate/props", "x", false, "-r", "-V", "mqttv5", "-D", "publish", "user-property", "a", long[:30<<10])
	got := n.listens(t, "desk", "frigate/#")
	n.publishes(t, "home", "frigate/end", "end", false)
	var all []string
	for line := ""; line != "frigate/end end"; all = append(all, line) {
		line = <-got
	}
	if want := "frigate/door kept|frigate/end end"; strings.Join(all, "|") != want {
		t.Errorf("what is retained of another: %q", all)
	}

	filters := map[string]byte{}
	for i := range 300 {
		filters[fmt.Sprintf("owntracks/of/%d", i)] = 0
	}
	tok := pin.SubscribeMultiple(filters, nil).(*mqtt.SubscribeToken)
	_ = await(t, tok) // it reports that some were refused
	taken := 0
	for _, code := range tok.Result() {
		if code != 0x80 {
			taken++
		}
	}
	if taken == 0 || taken > 256 {
		t.Errorf("%d subscriptions", taken)
	}

	// A topic alias, of which a login could set 65,535 of 64 KiB.
	pin.Disconnect(0)
	c := n.connects(t, "pin")
	b := append(binary.BigEndian.AppendUint16([]byte{0x30, 19}, 11), "owntracks/a\x03\x23\x00\x01xx"...)
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte{0xc0, 0}); err != nil { // is the connection still there?
		t.Fatal(err)
	}
	head := make([]byte, 1)
	if _, err := io.ReadFull(c, head); err == nil && head[0] == 0xd0 {
		t.Error("a name for a topic was taken")
	}
}

// A login that was removed leaves no will.
func TestThreatWillOfWhoWasRemoved(t *testing.T) {
	n := embedded(t, intake.Config{})
	other := newRegistry(t, "home")
	n.reg.mu.Lock()
	n.reg.hash["home"], n.reg.password["home"] = other.hash["home"], other.password["home"]
	n.reg.topics = map[string]intake.Topics{"pin": {Publish: []string{"owntracks/#"}}, "home": {Read: []string{"owntracks/#"}}, "glasses": {Publish: []string{"owntracks/#"}}}
	n.reg.mu.Unlock()
	got := n.listens(t, "home", "owntracks/#")
	gone := mqtt.NewClient(n.options("pin").SetWill("owntracks/will", "gone", 0, false))
	if err := await(t, gone.Connect()); err != nil {
		t.Fatal(err)
	}
	n.reg.mu.Lock()
	delete(n.reg.topics, "pin")
	n.reg.mu.Unlock()
	n.broker.Drop("pin")
	for n.broker.Connected("pin") {
		runtime.Gosched()
	}
	n.publishes(t, "glasses", "owntracks/end", "end", false)
	if line := <-got; line != "owntracks/end end" {
		t.Error(line)
	}
}
