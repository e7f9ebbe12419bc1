package link_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
)

// transcript plays all connections of a dialer.
func transcript(t *testing.T, c link.Dialer, touch func(link.Device)) (out []string, err error) {
	t.Helper()
	for {
		d, err := c.Connect(deadline(t))
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, fmt.Sprintf("connect %d", d.MTU()))
		touch(d)
		for n := range d.Notifications() {
			out = append(out, fmt.Sprintf("%s %x", n.Char[:min(8, len(n.Char))], n.Data))
		}
		err = d.Err()
		if e := d.Close(); e != nil {
			t.Error(e)
		}
		if err != nil && !errors.Is(err, link.ErrLost) {
			return out, err
		}
		out = append(out, "end")
	}
}

// A recording of a device plays like the device.
func TestRecordAndPlay(t *testing.T) {
	z := linktest.Start(t, scenario())
	ctx := deadline(t)
	var file bytes.Buffer
	rec := link.NewRecorder(&link.BlueZ{Device: address, Bus: z.Bus}, address, &file)
	for range 2 {
		d, err := rec.Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Read(ctx, codecChar); err != nil {
			t.Fatal(err)
		}
		if err := d.Write(ctx, timeChar, []byte{1}); err != nil {
			t.Fatal(err)
		}
		if err := d.Subscribe(ctx, audioChar); err != nil {
			t.Fatal(err)
		}
		for n := range d.Notifications() {
			if n.Data[3] == 0xcc {
				break
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := rec.Err(); err != nil {
		t.Fatal(err)
	}
	var codecs []string
	got, err := transcript(t, link.NewCapture(&file), func(d link.Device) {
		b, err := d.Read(ctx, codecChar)
		if err != nil {
			t.Error(err)
		}
		if _, err := d.Read(ctx, batteryChar); !errors.Is(err, link.ErrAbsent) {
			t.Errorf("of what was not read: %v", err)
		}
		codecs = append(codecs, fmt.Sprintf("%x", b))
	})
	want := []string{"connect 247", "19b10001 000000aa", "19b10001 000000aa", "19b10001 010000bb", "end", "connect 247", "19b10001 020000cc", "end"}
	if err != nil || !slices.Equal(got, want) || !slices.Equal(codecs, []string{"15", "15"}) {
		t.Errorf("%v\n%v %v", got, codecs, err)
	}
}

func TestCapture(t *testing.T) {
	const n = `{"t":5,"char":"19B10001-E8F2-537E-4F6C-D104768A1214","hex":"01"}` + "\n"
	for _, c := range []struct {
		name, in, want, err string
	}{
		{"nothing", "", "", ""},
		{"notifications alone", n + "\n" + n, "connect 0 19b10001 01 19b10001 01 end", ""},
		{"without an end", `{"t":1,"op":"connect","mtu":200}` + "\n" + n + `{"t":1,"op":"connect","mtu":100}` + "\n" + n, "connect 200 19b10001 01 end connect 100 19b10001 01 end", ""},
		{"silent", `{"t":1,"op":"connect"}` + "\n" + `{"t":1,"op":"disconnect"}` + "\n", "connect 0 end", ""},
		{"no JSON", n + "x\n", "connect 0 19b10001 01", "capture: line 2"},
		{"a field that is not known", `{"t":1,"uuid":"x"}`, "", `line 1: json: unknown field "uuid"`},
		{"an op that is not known", `{"t":1,"op":"fly"}`, "", `op: "fly" is not known`},
		{"no characteristic", `{"t":1,"hex":"00"}`, "", "line 1: char"},
		{"half a byte", strings.Replace(n, `"01"`, `"0"`, 1), "", "line 1: hex"},
		{"time below 0", strings.Replace(n, `:5,`, `:-5,`, 1), "", "line 1: t"},
		{"an MTU too large", `{"t":1,"op":"connect","mtu":518}`, "", "line 1: mtu"},
		{"a message of a broker", `{"t":1,"topic":"a/b","text":"hi"}` + "\n" + `{"t":1,"topic":"c/dddddd","hex":"00","retain":true}`, "connect 0 a/b 6869 c/dddddd 00 end", ""},
		{"a topic and a characteristic", strings.Replace(n, `"t":5`, `"t":5,"topic":"a/b"`, 1), "", "line 1: topic"},
		{"text and bytes", `{"t":1,"topic":"a/b","text":"hi","hex":"00"}`, "", "line 1: text and hex"},
		{"text of a characteristic", strings.Replace(n, `"hex"`, `"text"`, 1), "", "line 1: text and retain"},
		{"a read topic", `{"t":1,"op":"read","topic":"a/b"}`, "", "line 1: topic"},
		{"two on a line", n[:len(n)-1] + n, "", "more than one object"},
		{"a line too long", n + strings.Repeat(" ", 1<<20), "connect 0 19b10001 01", "line 2"},
	} {
		got, err := transcript(t, link.NewCapture(strings.NewReader(c.in)), func(link.Device) {})
		text := ""
		if err != nil {
			text = err.Error()
			if !errors.Is(err, link.ErrCapture) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if strings.Join(got, " ") != c.want || !strings.Contains(text, c.err) || (c.err == "") != (err == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

// Closing a connection early does not affect the next one.
func TestCaptureClosedEarly(t *testing.T) {
	line := func(v int) string {
		return fmt.Sprintf(`{"t":1,"char":"%s","hex":"%02x"}`+"\n", audioChar, v)
	}
	c := link.NewCapture(strings.NewReader(line(1) + line(2) + line(3) + `{"t":1,"op":"disconnect"}` + "\n" + line(4)))
	d, err := c.Connect(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if n := <-d.Notifications(); n.Data[0] != 1 {
		t.Error(n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := transcript(t, c, func(link.Device) {})
	if err != nil || strings.Join(got, " ") != "connect 0 19b10001 04 end" {
		t.Error(got, err)
	}
}

// Whatever a file holds, it plays or is an ErrCapture.
func FuzzCapture(f *testing.F) {
	f.Add([]byte(`{"t":1,"op":"connect","mtu":23}` + "\n" + `{"t":5,"char":"19B10001-E8F2-537E-4F6C-D104768A1214","hex":"01"}` + "\n" + `{"t":6,"op":"disconnect"}`))
	f.Add([]byte("\n\n{"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := link.NewCapture(bytes.NewReader(in))
		for {
			d, err := c.Connect(t.Context())
			if err == io.EOF || errors.Is(err, link.ErrCapture) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for n := range d.Notifications() {
				if len(n.Char) != 36 {
					t.Fatalf("%+v", n)
				}
			}
			if err := d.Err(); !errors.Is(err, link.ErrLost) && !errors.Is(err, link.ErrCapture) {
				t.Fatal(err)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
