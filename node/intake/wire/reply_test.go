package wire

import (
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func TestAcks(t *testing.T) {
	for _, c := range []struct {
		a    Ack
		json string
		cbor string
	}{
		{Ack{Boot: 7, Seqs: []uint64{3}}, `{"boot":7,"seq":3}`, "a263736571" + "0364626f6f7407"},
		{Ack{Boot: math.MaxUint64, Seqs: []uint64{3, 4, 9}}, `{"boot":18446744073709551615,"seqs":[3,4,9]}`,
			"a264626f6f741bffffffffffffffff647365717383030409"},
		{Ack{Boot: 7, Seqs: []uint64{3}, Dropped: "paused"}, `{"boot":7,"dropped":"paused","seq":3}`, ""},
		{Ack{Boot: 7, Seqs: []uint64{3}, Error: "no space", Retry: true, After: 2 * time.Second},
			`{"after":2000,"boot":7,"error":"no space","retry":true,"seq":3}`, ""},
		{Ack{Boot: 7, Seqs: []uint64{3}, Error: "text: missing"}, `{"boot":7,"error":"text: missing","retry":false,"seq":3}`, ""},
		{Ack{Kind: "audio", Size: 67108864, CRC: 0xdeadbeef, Error: "size"},
			`{"crc":3735928559,"error":"size","kind":"audio","retry":false,"size":67108864}`, ""},
	} {
		for _, f := range []Format{JSON, CBOR} {
			b, err := EncodeAck(&c.a, f)
			if err != nil {
				t.Fatal(err)
			}
			if f == JSON && string(b) != c.json || f == CBOR && c.cbor != "" && hex.EncodeToString(b) != c.cbor {
				t.Errorf("%s: %s %x", f, b, b)
			}
			if got, err := DecodeAck(b); err != nil || !reflect.DeepEqual(*got, c.a) {
				t.Errorf("%+v became %+v, %v", c.a, got, err)
			}
		}
	}
	for _, bad := range []string{
		``, `[]`, `{}`, `{"boot":1}`, `{"seq":1}`, `{"boot":1,"seq":1,"seqs":[1]}`, `{"boot":1,"seqs":[]}`, `{"boot":1,"seqs":["1"]}`,
		`{"boot":1,"seq":1,"retry":1}`, `{"boot":1,"seq":1,"after":-1}`, `{"kind":"x","size":1,"crc":1}`,
		`{"boot":1,"seqs":[` + strings.Repeat("1,", MaxSeqs) + `1]}`,
	} {
		if a, err := DecodeAck([]byte(bad)); err == nil {
			t.Errorf("%s: taken as %+v", bad, a)
		}
	}
}

func TestCmds(t *testing.T) {
	for _, c := range []struct {
		c    Cmd
		json string
	}{
		{Cmd{Cmd: CmdPause}, `{"cmd":"pause"}`},
		{Cmd{Cmd: CmdPause, Why: WhyPrivate}, `{"cmd":"pause","why":"private"}`},
		{Cmd{Cmd: CmdResume}, `{"cmd":"resume"}`},
		{Cmd{Cmd: CmdTime, At: noon, Zone: "Asia/Shanghai", Max: MaxPayload}, `{"at":1773489600250,"cmd":"time","max":1048576,"zone":"Asia/Shanghai"}`},
		{Cmd{Cmd: CmdCapture, What: "audio", For: time.Minute}, `{"cmd":"capture","for":60000,"what":"audio"}`},
		{Cmd{Cmd: CmdSay, Text: "On Tuesday."}, `{"cmd":"say","text":"On Tuesday."}`},
	} {
		for _, f := range []Format{JSON, CBOR} {
			b, err := EncodeCmd(&c.c, f)
			if err != nil {
				t.Fatal(err)
			}
			if f == JSON && string(b) != c.json {
				t.Errorf("%s", b)
			}
			if got, err := DecodeCmd(b); err != nil || !reflect.DeepEqual(*got, c.c) {
				t.Errorf("%+v became %+v, %v", c.c, got, err)
			}
		}
	}
	for _, bad := range []string{``, `{}`, `{"cmd":"explode"}`, `{"cmd":5}`, `{"cmd":"time"}`, `{"cmd":"capture"}`, `{"cmd":"capture","what":"soul"}`, `{"cmd":"say"}`, `{"cmd":"say","text":""}`, `{"cmd":"say","text":"` + strings.Repeat("x", MaxSay+1) + `"}`} {
		if c, err := DecodeCmd([]byte(bad)); err == nil {
			t.Errorf("%s: taken as %+v", bad, c)
		}
	}
}

func FuzzReplies(f *testing.F) {
	f.Add([]byte(`{"boot":1,"seq":1,"error":"x","retry":true,"after":5}`))
	f.Add([]byte(`{"cmd":"time","at":5,"max":7}`))
	f.Add([]byte{0xa2, 0x64, 'b', 'o', 'o', 't', 1, 0x64, 's', 'e', 'q', 's', 0x82, 1, 2})
	f.Fuzz(func(t *testing.T, in []byte) {
		if a, err := DecodeAck(in); err == nil {
			for _, form := range []Format{CBOR, JSON} {
				if a.Error == "" && a.Retry {
					continue // says nothing
				}
				b, err := EncodeAck(a, form)
				if err != nil {
					t.Fatalf("%+v: %v", a, err)
				}
				again, err := DecodeAck(b)
				if a.Error == "" {
					a.After = 0
				}
				if err != nil || !reflect.DeepEqual(a, again) {
					t.Fatalf("%+v became %+v, %v", a, again, err)
				}
			}
		}
		if c, err := DecodeCmd(in); err == nil {
			b, err := EncodeCmd(c, CBOR)
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			if again, err := DecodeCmd(b); err != nil || !reflect.DeepEqual(c, again) {
				t.Fatalf("%+v became %+v, %v", c, again, err)
			}
		}
	})
}

func TestTopics(t *testing.T) {
	for _, k := range Kinds {
		if device, kind, err := ParseTopic(TopicOf("pin-2", k)); err != nil || device != "pin-2" || kind != k {
			t.Errorf("%s: %s, %s, %v", k, device, kind, err)
		}
	}
	for _, bad := range []string{
		"", "/", "locket/v1/", "locket/v1/pin", "locket/v1/pin/", "locket/v1//text", "locket/v1/pin/ack", "locket/v1/pin/cmd",
		"locket/v1/pin/text/", "locket/v1/pin/text/x", "locket/v2/pin/text", "LOCKET/v1/pin/text", "locket/v1/Pin/text",
		"locket/v1/-pin/text", "locket/v1/pin-/text", "locket/v1/p_n/text", "locket/v1/+/text", "locket/v1/#",
		"locket/v1/" + strings.Repeat("a", MaxDevice+1) + "/text", "x/locket/v1/pin/text",
	} {
		if device, kind, err := ParseTopic(bad); err == nil {
			t.Errorf("%q: taken as %s, %s", bad, device, kind)
		}
	}
	if CheckDevice(strings.Repeat("a", MaxDevice)) != nil || CheckDevice("0") != nil {
		t.Error("a good name is refused")
	}
}

func TestPackets(t *testing.T) {
	var data []byte
	var err error
	for _, p := range []string{"one", "2", strings.Repeat("x", maxOpusPacket)} {
		if data, err = AppendPacket(data, []byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Packets(data)
	if err != nil || len(got) != 3 || string(got[0]) != "one" || len(got[2]) != maxOpusPacket {
		t.Errorf("%d packets, %v", len(got), err)
	}
	for _, n := range []int{0, maxOpusPacket + 1} {
		if _, err := AppendPacket(nil, make([]byte, n)); err == nil {
			t.Errorf("a packet of %d bytes was taken", n)
		}
	}
	if _, err := Packets(data[:len(data)-1]); err == nil {
		t.Error("a cut packet was taken")
	}
}

// Each kind's event has the content of the message.
func TestEvents(t *testing.T) {
	for _, s := range samples() {
		b, err := Encode(s.m, CBOR)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := Decode(s.m.Kind(), b)
		if err != nil {
			t.Fatal(s.name, err)
		}
		e := Event("pin", m, noon, nil)
		if e.Kind != s.m.Kind() || e.ID != (memory.EventID{Device: "pin", Boot: s.m.Head().Boot, Seq: s.m.Head().Seq}) {
			t.Errorf("%s: %+v", s.name, e)
		}
		ok := true
		switch m := s.m.(type) {
		case *Hello:
			ok = e.Metadata[MetaModel] == m.Model && e.Metadata[MetaCodecs] == strings.Join(m.Codecs, " ")
			if s.name == "hello" {
				ok = ok && e.Metadata[MetaBattery] == "87" && e.Metadata[MetaMic] == "on" && e.Zone == "Europe/Berlin"
			}
		case *Audio:
			ok = e.Codec == m.Codec && e.Rate == m.Rate && e.Last == m.Last && string(e.Data) == string(m.Data)
		case *Photo:
			ok = e.Codec == m.Codec && string(e.Data) == string(m.Data) && (s.name != "photo-part" || e.Metadata[MetaPart] == "1" && e.Metadata[MetaParts] == "3")
		case *Words:
			ok = e.Text == m.Text && e.Speaker == m.Speaker && e.Lang == m.Lang
		case *Location:
			ok = *e.Place == m.Place
		case *Sensor:
			ok = e.Name == m.Name && reflect.DeepEqual(e.Values, m.Values) && e.Unit == m.Unit
		case *Button:
			ok = e.Name == m.Name && e.Values[0] == 2
		case *Gap:
			ok = *e.Missing == m.Missing && e.Reason == m.Reason
		case *Status:
			ok = e.Metadata[MetaState] == m.State && e.Reason == m.Reason
		}
		if !ok {
			t.Errorf("%s became %+v", s.name, e)
		}
	}
	for _, topic := range []string{"locket/v1/pin/nothing", "x"} {
		_, kind, err := ParseTopic(topic)
		if err == nil {
			_, _, err = Decode(kind, []byte("{}"))
		}
		if err == nil {
			t.Errorf("%s was taken", topic)
		}
	}
}
