package intake_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
)

// web serves an intake over HTTP.
func web(t *testing.T, cfg intake.Config) (*node, *intake.Web, string) {
	t.Helper()
	n := newIntake(t, cfg)
	w := intake.NewWeb(n.in, intake.WebConfig{Devices: n.reg})
	mux := http.NewServeMux()
	mux.Handle("POST /wear/v1/{leaf}", w)
	mux.Handle("GET /wear/v1", w)
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.Close(); w.Close() })
	return n, w, s.URL + "/wear/v1"
}

// said is an answer over HTTP.
type said struct {
	status int
	Ack    []struct {
		Boot    uint64
		Seq     uint64
		Seqs    []uint64
		Error   string
		Dropped string
		Retry   bool
		Kind    string
	}
	Cmd []struct{ Cmd, Why, Text, Zone string }
}

func (n *node) ask(t *testing.T, method, url, device string, body []byte, change func(*http.Request)) (out said) {
	t.Helper()
	r, err := http.NewRequestWithContext(deadline(t), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(device, n.reg.password[device])
	r.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if out.status = res.StatusCode; out.status == http.StatusOK {
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	}
	return out
}

// The answers over HTTP are those that MQTT would give: taken once it is on disk, known
// when it comes again, refused with a reason, dropped in a pause; and the node's commands.
func TestWeb(t *testing.T) {
	n, w, url := web(t, intake.Config{Zone: "Europe/Berlin"})
	post := func(leaf, body string) said {
		t.Helper()
		return n.ask(t, "POST", url+"/"+leaf, "pin", []byte(body), nil)
	}
	if w.Connected("pin") {
		t.Error("connected before it asked")
	}
	a := post("hello", `{"seq":1,"boot":7,"model":"browser","firmware":"1","tells":true}`)
	if len(a.Ack) != 1 || a.Ack[0].Boot != 7 || len(a.Cmd) != 2 || a.Cmd[0].Zone != "Europe/Berlin" || a.Cmd[1].Cmd != wire.CmdResume || !w.Connected("pin") || w.Connected("glasses") {
		t.Errorf("%+v", a)
	}
	for range 2 {
		if a := post("text", `{"seq":2,"boot":7,"text":"once"}`); len(a.Ack) != 1 || a.Ack[0].Error != "" || a.Ack[0].Boot != 7 {
			t.Errorf("%+v", a)
		}
	}
	if got := n.disk.of(memory.KindText); len(got) != 1 || got[0].ID.Device != "pin" || got[0].Text != "once" {
		t.Errorf("%+v", got)
	}
	if a := post("sensor", `{"seq":3,"boot":7,"name":"n","values":"no"}`); len(a.Ack) != 1 || a.Ack[0].Error == "" || a.Ack[0].Retry || a.Ack[0].Boot != 7 {
		t.Errorf("%+v", a)
	}
	for _, leaf := range []string{"smell", "ack", "cmd"} {
		if a := post(leaf, `{"seq":4,"boot":7}`); len(a.Ack) != 1 || a.Ack[0].Error == "" || a.Ack[0].Kind != leaf {
			t.Errorf("%s: %+v", leaf, a)
		}
	}
	if err := n.in.Say("pin", "On Tuesday."); err != nil {
		t.Error(err)
	}
	n.in.SetPaused(true)
	if a := n.ask(t, "GET", url, "pin", nil, nil); len(a.Ack) != 0 || len(a.Cmd) != 2 || a.Cmd[0].Text != "On Tuesday." || a.Cmd[1].Cmd != wire.CmdPause {
		t.Errorf("%+v", a)
	}
	if a := post("text", `{"seq":5,"boot":7,"text":"secret"}`); len(a.Ack) != 1 || a.Ack[0].Dropped != wire.DroppedPaused || len(a.Cmd) != 1 || a.Cmd[0].Cmd != wire.CmdPause {
		t.Errorf("%+v", a)
	}
	n.in.SetPaused(false)
	n.disk.full(true)
	if a := post("text", `{"seq":6,"boot":7,"text":"later"}`); len(a.Ack) != 1 || !a.Ack[0].Retry {
		t.Errorf("%+v", a)
	}
	n.disk.full(false)
	if a := post("text", `{"seq":6,"boot":7,"text":"later"}`); len(a.Ack) != 1 || a.Ack[0].Error != "" {
		t.Errorf("%+v", a)
	}
	w.Close()
	if a := post("text", `{"seq":7,"boot":7,"text":"x"}`); a.status != http.StatusServiceUnavailable {
		t.Errorf("closed: %d", a.status)
	}
	if got := n.disk.of(memory.KindText); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

// A command that no request fetched within a minute is dropped, because nobody waits for
// it.
func TestWebCommandExpires(t *testing.T) {
	var late atomic.Int64
	start := time.Now()
	n, _, url := web(t, intake.Config{Now: func() time.Time { return start.Add(time.Duration(late.Load())) }})
	if a := n.ask(t, "POST", url+"/hello", "pin", []byte(`{"seq":1,"boot":7,"model":"browser","firmware":"1","tells":true}`), nil); a.status != http.StatusOK {
		t.Fatal(a.status)
	}
	for passed, want := range map[time.Duration]int{time.Minute: 2, time.Minute + 1: 1} {
		if err := n.in.Say("pin", "On Tuesday."); err != nil {
			t.Fatal(err)
		}
		late.Add(int64(passed))
		if a := n.ask(t, "GET", url, "pin", nil, nil); len(a.Cmd) != want {
			t.Errorf("after %s: %+v", passed, a)
		}
	}
}

// Over HTTP nobody can act as a device without its password, for which there are ten
// guesses a minute. A page of another site can't take part, and a body that is too large is
// not read.
func TestThreatWearableOverHTTP(t *testing.T) {
	n, _, url := web(t, intake.Config{})
	text := []byte(`{"seq":1,"boot":1,"text":"forged"}`)
	for _, c := range []struct {
		name   string
		body   []byte
		change func(*http.Request)
		status int
	}{
		{"no password", text, func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"another's password", text, func(r *http.Request) { r.SetBasicAuth("pin", n.reg.password["glasses"]) }, 401},
		{"nobody", text, func(r *http.Request) { r.SetBasicAuth("nobody", "x") }, 401},
		{"no name", text, func(r *http.Request) { r.SetBasicAuth("../pin", n.reg.password["pin"]) }, 401},
		{"a page of another site", text, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"a form", text, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		{"CBOR", []byte("\xa0"), nil, 415},
		{"too large", []byte(`{"seq":1,"boot":1,"text":"` + strings.Repeat("x", wire.MaxPayload) + `"}`), nil, 413},
	} {
		if a := n.ask(t, "POST", url+"/text", "pin", c.body, c.change); a.status != c.status {
			t.Errorf("%s: %d", c.name, a.status)
		}
	}
	for i := range 10 {
		n.ask(t, "POST", url+"/text", "glasses", text, func(r *http.Request) { r.SetBasicAuth("glasses", strings.Repeat("x", i+1)) })
	}
	if a := n.ask(t, "POST", url+"/text", "glasses", text, nil); a.status != 401 {
		t.Errorf("the eleventh guess is looked at: %d", a.status)
	}
	b, err := intake.Listen(n.in, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: n.reg})
	if err != nil {
		t.Fatal(err)
	}
	n.url = "tcp://" + b.Addr().String()
	c := mqtt.NewClient(n.options("glasses"))
	if err := await(t, c.Connect()); err == nil {
		t.Error("the eleventh guess is looked at over MQTT")
		c.Disconnect(0)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if got := n.disk.of(memory.KindText); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
