package xiaozhi_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
)

// speaker is a device with MQTT and UDP, based on another library's client.
type speaker struct {
	t    *testing.T
	mqtt mqtt.Client
	said chan string // what the server sent
	udp  net.Conn
	id   string
	ch   *frame.UDP
}

func enter(t *testing.T, m frame.MQTT) (*speaker, error) {
	t.Helper()
	d := &speaker{t: t, said: make(chan string, 100)}
	d.mqtt = mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + m.Endpoint).SetClientID(m.Client).SetUsername(m.User).SetPassword(m.Password).
		SetProtocolVersion(4).SetKeepAlive(240 * time.Second).SetAutoReconnect(false).
		SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) {
			if m.Topic() != "devices/p2p/a0_85_e3_f4_49_34" {
				t.Errorf("it says something under %s", m.Topic())
			}
			d.said <- string(m.Payload())
		}))
	tok := d.mqtt.Connect()
	<-tok.Done()
	if tok.Error() == nil {
		t.Cleanup(func() { d.mqtt.Disconnect(0) })
	}
	return d, tok.Error()
}

func (d *speaker) say(text string) {
	d.t.Helper()
	tok := d.mqtt.Publish("device-server", 0, false, text)
	<-tok.Done()
	if err := tok.Error(); err != nil {
		d.t.Fatal(err)
	}
}

// hears waits for a message of a type.
func (d *speaker) hears(kind string) (m frame.Message, text string) {
	d.t.Helper()
	select {
	case text = <-d.said:
	case <-carrytest.Deadline(d.t).Done():
		d.t.Fatalf("no %s", kind)
	}
	m, err := frame.Read([]byte(text))
	if err != nil || m.Type != kind {
		d.t.Fatalf("%s, %v: want %s", text, err, kind)
	}
	return m, text
}

// greet opens a sound channel.
func (d *speaker) greet() {
	d.t.Helper()
	d.say(`{"type":"hello","version":3,"transport":"udp","features":{"mcp":true},"audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}}`)
	m, text := d.hears("hello")
	var at struct {
		Transport string
		UDP       struct {
			Server string
			Port   int
		}
	}
	var key, nonce [16]byte
	k, err1 := hex.DecodeString(m.UDP.Key)
	n, err2 := hex.DecodeString(m.UDP.Nonce)
	if err := json.Unmarshal([]byte(text), &at); err != nil || err1 != nil || err2 != nil || copy(key[:], k) != 16 || copy(nonce[:], n) != 16 || at.Transport != "udp" || nonce[0] != 1 {
		d.t.Fatalf("%s, %v", text, err)
	}
	d.id, d.ch = m.Session, frame.NewUDP(key, nonce)
	if d.udp == nil {
		var err error
		if d.udp, err = net.Dial("udp", net.JoinHostPort(at.UDP.Server, fmt.Sprint(at.UDP.Port))); err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(func() { d.udp.Close() })
	}
}

func (d *speaker) send(datagrams ...[]byte) {
	d.t.Helper()
	for _, b := range datagrams {
		if _, err := d.udp.Write(b); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *speaker) listen(state string) {
	d.t.Helper()
	d.say(fmt.Sprintf(`{"session_id":%q,"type":"listen","state":%q,"mode":"manual"}`, d.id, state))
}
