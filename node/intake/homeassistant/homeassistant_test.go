package homeassistant

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// home is a real broker, with Mosquitto's own clients in place of Home Assistant.
type home struct {
	t     *testing.T
	port  string
	lines chan string // TOPIC PAYLOAD of everything that is published

	never []string // what none of them may contain
}

func tool(t *testing.T, name string) string {
	t.Helper()
	for _, p := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name, "/opt/homebrew/sbin/" + name} {
		if found, err := exec.LookPath(p); err == nil {
			return found
		}
	}
	t.Fatalf("%s is needed by this test and not installed: apt-get install mosquitto mosquitto-clients, or brew install mosquitto", name)
	return ""
}

func newHome(t *testing.T) *home {
	port := freeport.Port(t)
	conf := filepath.Join(t.TempDir(), "mosquitto.conf")
	if err := os.WriteFile(conf, []byte("listener "+port+" 127.0.0.1\nallow_anonymous true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, exec.Command(tool(t, "mosquitto"), "-c", conf))
	h := &home{t: t, port: port, lines: make(chan string, 1000)}
	for began := time.Now(); ; {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			break
		}
		if time.Since(began) > 10*time.Minute {
			t.Fatal(err)
		}
	}
	return h
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

// watch records everything that is published from then on, and what is retained.
func (h *home) watch() {
	h.t.Helper()
	cmd := exec.Command(tool(h.t, "mosquitto_sub"), "-h", "127.0.0.1", "-p", h.port, "-v", "-t", "#")
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	start(h.t, cmd)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			h.lines <- s.Text()
		}
	}()
}

func (h *home) publish(topic, text string, retain bool) {
	h.t.Helper()
	args := []string{"-h", "127.0.0.1", "-p", h.port, "-q", "1", "-t", topic, "-m", text}
	if retain {
		args = append(args, "-r")
	}
	if out, err := exec.Command(tool(h.t, "mosquitto_pub"), args...).CombinedOutput(); err != nil {
		h.t.Fatalf("mosquitto_pub: %v: %s", err, out)
	}
}

// wait returns the payload of the next message on a topic that satisfies is.
func (h *home) wait(topic string, is func(payload string) bool) string {
	h.t.Helper()
	var others []string
	for {
		select {
		case line := <-h.lines:
			for _, word := range h.never {
				if strings.Contains(line, word) {
					h.t.Error(line)
				}
			}
			if payload, ok := strings.CutPrefix(line, topic+" "); ok && is(payload) {
				return payload
			}
			others = append(others, line)
		case <-time.After(10 * time.Minute):
			h.t.Fatalf("nothing fit on %s; there was\n%s", topic, strings.Join(others, "\n"))
		}
	}
}

func same(want string) func(string) bool { return func(got string) bool { return got == want } }

// described parses a description, and returns a component.
func described(t *testing.T, payload, key string) map[string]any {
	t.Helper()
	var d struct {
		Device     struct{ Identifiers []string }
		Origin     struct{ Name string }
		Components map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(payload), &d); err != nil || len(d.Device.Identifiers) != 1 || d.Origin.Name == "" {
		t.Fatalf("%s: %v", payload, err)
	}
	return d.Components[key]
}

func run(t *testing.T, c Config) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { Run(ctx, c); close(done) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			<-done
		}
	}
	t.Cleanup(stop)
	return stop
}

// reader counts how often it is asked for a list.
type reader struct {
	serve.Reader
	lists atomic.Int64
}

func (r *reader) List(ctx context.Context, q serve.ListQuery) (serve.ListPage, error) {
	defer r.lists.Add(1)
	return r.Reader.List(ctx, q)
}

// watcher reports changes when the test says so.
type watcher chan bool

func (w watcher) Watch(ctx context.Context) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		for n := uint64(1); yield(n, nil); n++ {
			select {
			case <-w:
			case <-ctx.Done():
				return
			}
		}
	}
}

func TestMemoriesInHomeAssistant(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	n := nodetest.New(t, nodetest.Cheap)
	services := n.Services()
	counted := &reader{Reader: services.Reader}
	services.Reader = counted
	owner := serve.InProcess(serve.New(serve.Options{Services: services}))
	t.Cleanup(owner.Close)
	if _, err := services.Devices.AddLogin(ctx, serve.AddDeviceRequest{Name: "pin-1"}); err != nil {
		t.Fatal(err)
	}
	changes := make(watcher, 1)
	add := func(text string) {
		t.Helper()
		if _, err := owner.Add(ctx, serve.AddRequest{Text: text}); err != nil {
			t.Fatal(err)
		}
		changes <- true
	}
	add("my dog is called Rex")
	<-changes
	const config, own = "homeassistant/device/locket_test/config", "locket/home/locket_test/"
	// An earlier description, and a command that somebody left there.
	h.publish(config, `{"components":{"wearable_gone_heard":{"platform":"sensor","unique_id":"x"},"strange":{"platform":"lock"}}}`, true)
	h.publish(own+"pause/set", "ON", true)
	h.watch()
	c := Config{URL: "tcp://127.0.0.1:" + h.port, ID: "locket_test", Version: "test", Every: 20 * time.Millisecond,
		Node: Node{Devices: services.Devices, Intake: n, Diagnostics: n, Watcher: changes}, Listed: true, App: owner}
	stop := run(t, c)
	first := h.wait(config, func(s string) bool {
		return strings.Contains(s, "wearable_pin_1_heard") && strings.Contains(s, "wearable_gone_heard")
	})
	for key, platform := range map[string]string{"pause": "switch", "waiting": "sensor", "memory": "event", "question": "text", "answer": "sensor", "wearable_pin_1_battery": "sensor"} {
		p := described(t, first, key)
		if p["platform"] != platform || p["unique_id"] != "locket_test_"+key || p["state_topic"] == "" {
			t.Errorf("%s: %v", key, p)
		}
	}
	if gone := described(t, first, "wearable_gone_heard"); len(gone) != 1 || gone["platform"] != "sensor" {
		t.Errorf("what is not there any more: %v", gone)
	}
	if described(t, first, "strange") != nil {
		t.Error("somebody else's component was taken over")
	}

	for counted.lists.Load() == 0 {
		runtime.Gosched()
	}
	add("my cat is called Tom")
	event := h.wait(own+"memory", func(string) bool { return true })
	if !strings.Contains(event, `"event_type":"added"`) || !strings.Contains(event, "Tom") {
		t.Error(event)
	}
	if s, err := n.Status(ctx); err != nil || s.Pause.Paused {
		t.Errorf("a retained command was obeyed: %+v, %v", s.Pause, err)
	}
	for _, on := range []string{"ON", "OFF"} {
		h.publish(own+"pause/set", on, false)
		h.wait(own+"pause", same(on))
		if s, err := n.Status(ctx); err != nil || s.Pause.Paused != (on == "ON") {
			t.Errorf("%s: %+v, %v", on, s.Pause, err)
		}
	}
	h.publish(own+"question/set", "what is my cat called", false)
	if a := h.wait(own+"answer", func(string) bool { return true }); !strings.Contains(a, `"question":"what is my cat called"`) || !strings.Contains(a, "Tom") {
		t.Error(a)
	}

	// If nothing changes, the app does not look, because that would cost tokens.
	looked := counted.lists.Load()
	for range 3 {
		h.publish(own+"pause/set", "ON", false)
		h.wait(own+"pause", same("ON"))
		h.publish(own+"pause/set", "OFF", false)
		h.wait(own+"pause", same("OFF"))
	}
	if n := counted.lists.Load(); n != looked {
		t.Errorf("it looked %d times more", n-looked)
	}

	h.publish("homeassistant/status", "online", false)
	h.wait(config, func(s string) bool { return described(t, s, "pause") != nil })
	h.wait(own+"availability", same("online"))

	if err := services.Devices.RemoveDevice(ctx, "pin-1"); err != nil {
		t.Fatal(err)
	}
	h.wait(config, func(s string) bool { return len(described(t, s, "wearable_pin_1_battery")) == 1 })
	stop()
	h.wait(own+"availability", same("offline"))
}

// slowDevices answers the first request at once, and later ones only after the caller
// has left.
type slowDevices struct {
	wearables
	asked atomic.Int64
}

type wearables = serve.Devices

func (d *slowDevices) Devices(ctx context.Context) ([]serve.Device, error) {
	if d.asked.Add(1) > 1 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return d.wearables.Devices(ctx)
}

// A node that ends while it checks its state is also shown as gone.
func TestShutdownDuringAStateCheck(t *testing.T) {
	h := newHome(t)
	n := nodetest.New(t, nodetest.Cheap)
	h.watch()
	slow := &slowDevices{wearables: n.Wearables}
	stop := run(t, Config{URL: "tcp://127.0.0.1:" + h.port, ID: "locket_test", Every: time.Millisecond, Node: Node{Devices: slow, Intake: n, Diagnostics: n, Watcher: watcher(nil)}})
	h.wait("locket/home/locket_test/availability", same("online"))
	for slow.asked.Load() < 2 {
		runtime.Gosched()
	}
	stop()
	h.wait("locket/home/locket_test/availability", same("offline"))
}

// Without an app's key no memory is sent to the broker, and nobody can ask.
func TestWithoutAnAppKey(t *testing.T) {
	h := newHome(t)
	n := nodetest.New(t, nodetest.Cheap)
	owner := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	t.Cleanup(owner.Close)
	h.never = []string{"Tom", "/answer ", "/memory "}
	h.watch()
	run(t, Config{URL: "tcp://127.0.0.1:" + h.port, ID: "locket_test", Every: 20 * time.Millisecond, Node: Node{Devices: n.Wearables, Intake: n, Diagnostics: n, Watcher: watcher(nil)}})
	d := h.wait("homeassistant/device/locket_test/config", func(string) bool { return true })
	for _, key := range []string{"memory", "question", "answer"} {
		if described(t, d, key) != nil {
			t.Errorf("%s is described", key)
		}
	}
	if _, err := owner.Add(t.Context(), serve.AddRequest{Text: "my cat is called Tom"}); err != nil {
		t.Fatal(err)
	}
	h.publish("locket/home/locket_test/question/set", "what is my cat called", false)
	for i := range 3 { // by then it would have been published
		on := []string{"ON", "OFF"}[i%2]
		h.publish("locket/home/locket_test/pause/set", on, false)
		h.wait("locket/home/locket_test/pause", same(on))
	}
}

// If wearables are only known once they were heard, one that is missing is not gone.
func TestWearableNotSeenYet(t *testing.T) {
	c := &conn{Config: &Config{}, parts: map[string]bool{"wearable_pin_heard": true, "memory": true}}
	parts := c.describe(nil)["components"].(map[string]component)
	if parts["wearable_pin_heard"] != nil || len(parts["memory"]) != 1 {
		t.Errorf("%v", parts)
	}
}

// A description that somebody else wrote is read within limits.
func TestDescriptionOfAStranger(t *testing.T) {
	c := &conn{Config: &Config{}, parts: map[string]bool{}}
	var many []string
	for i := range 2 * maxParts {
		many = append(many, fmt.Sprintf(`"wearable_%d":{}`, i))
	}
	for _, s := range []string{"", "[]", `{"components":[]}`, `{"components":{"pause":1}}`, "{" + strings.Repeat(" ", maxDescription) + `"components":{"pause":{}}}`} {
		if c.clear(s); len(c.parts) != 0 {
			t.Errorf("%.40q: %v", s, c.parts)
		}
	}
	if c.clear(`{"components":{` + strings.Join(many, ",") + `}}`); len(c.parts) != maxParts {
		t.Errorf("%d components", len(c.parts))
	}
}
