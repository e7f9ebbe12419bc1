package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	allow "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// cable is a network connection between a browser and an address, which can be cut.
type cable struct {
	at, to string

	mu    sync.Mutex
	plug  net.Listener // nil: it is cut
	conns []net.Conn
	ends  sync.WaitGroup
}

func (c *cable) join() error {
	l, err := net.Listen("tcp", c.at)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plug = l
	c.ends.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", c.to)
			if err != nil {
				near.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, near, far)
			c.mu.Unlock()
			for _, p := range [][2]net.Conn{{near, far}, {far, near}} {
				c.ends.Go(func() {
					_, _ = io.Copy(p[0], p[1]) // one side ended it
					near.Close()
					far.Close()
				})
			}
		}
	})
	return nil
}

func (c *cable) cut() {
	c.mu.Lock()
	c.plug.Close()
	for _, n := range c.conns {
		n.Close()
	}
	c.conns = nil
	c.mu.Unlock()
	c.ends.Wait()
}

// A phone is paired by the link of locket wearable add, and the day shows what its microphone
// and camera recorded, including while the node could not be reached, by a page loaded then.
// The page is served by the node's own door under the node's certificate. Microphone and
// camera are Chromium's fake ones; the microphone hears a man speak.
func TestRecorder(t *testing.T) {
	began := time.Now()
	line := &cable{at: freeport.Addr(t), to: freeport.Addr(t)}
	if err := line.join(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.cut)
	door := []string{"--set", "api.remote=" + line.to, "--set", "api.public_url=https://" + line.at}
	home, c := ownHome(t, door...)
	out, err := command(home, append(door, "--json", "wearable", "add", "phone")...)
	if err != nil {
		t.Fatal(err)
	}
	var d serve.DeviceCredentials
	if err := json.Unmarshal([]byte(out), &d); err != nil || !strings.HasPrefix(string(d.Page), "https://"+line.at+"/wear/#name=phone&password=") {
		t.Fatalf("%s, %v", out, err)
	}
	if s := fmt.Sprintf("%+v", d); strings.Contains(s, string(d.Password)) {
		t.Errorf("printed, it tells the password: %s", s)
	}
	voice, err := filepath.Abs("../../wasm/plugins/speech/testdata/audio/jfk.wav")
	if err != nil {
		t.Fatal(err)
	}

	p := chromium(t, chromedp.Flag("ignore-certificate-errors", true), chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("use-file-for-fake-audio-capture", voice))
	sent := func() {
		t.Helper()
		p.until(`document.querySelector("#microphone:enabled:not(:checked)") && document.querySelector("#waits").textContent === "Everything is on your node."`)
	}
	// turn presses a switch by keyboard. A click would miss it if the page grows at that moment, because of a picture
	// or a message.
	turn := func(id string) {
		t.Helper()
		p.until(`document.querySelector("#` + id + `:enabled")`)
		p.do(chromedp.Focus("#"+id), chromedp.KeyEvent(" "))
	}
	// day waits until the day has recordings from this many loads of the page, and photos.
	day := func(loads, photos int) int {
		t.Helper()
		inner, end := context.WithTimeout(t.Context(), patience)
		defer end()
		for {
			seen, boots := map[memory.ID]bool{}, map[string]bool{}
			zone := time.FixedZone("Asia/Shanghai", 8*60*60)    // the home's
			for _, at := range []time.Time{began, time.Now()} { // midnight may be in between
				day, err := c.Day(inner, serve.DateOf(at.In(zone)))
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range day.Memories {
					if m.Fields.Resource == nil || m.Source.Device != "phone" {
						continue
					}
					switch m.Fields.Resource.MediaType {
					case "audio/wav":
						boots[strings.Split(m.Evidence[0].Event.String(), "/")[1]] = true
					case "image/jpeg":
						seen[m.ID] = true
					}
				}
			}
			if len(boots) >= loads && len(seen) >= photos {
				return len(boots)
			}
			if !wait.For(inner, 100*time.Millisecond) {
				t.Fatalf("recordings of %d loads, %d photos", len(boots), len(seen))
			}
		}
	}

	p.do(network.Enable(), log.Enable(), runtime.Enable(), allow.GrantPermissions([]allow.PermissionType{allow.PermissionTypeGeolocation, allow.PermissionTypeBackgroundSync}),
		emulation.SetDeviceMetricsOverride(390, 844, 2, true), emulation.SetGeolocationOverride().WithLatitude(52.52).WithLongitude(13.4).WithAccuracy(10),
		chromedp.Navigate("https://"+line.at+"/wear/"), chromedp.WaitVisible("#pair-form"), chromedp.SendKeys("#link", "https://example.org/"), chromedp.Click("#pair-form button"))
	p.says("This is not a link")
	p.accessible("recorder-pair")
	p.shoot("recorder-pair")
	p.do(chromedp.Navigate(string(d.Page)), chromedp.Reload(), chromedp.WaitVisible("#microphone"))
	p.until(`location.hash === "" && document.querySelector("#name").textContent === "phone" && document.querySelector("#offline").textContent.startsWith("This page also opens")`)
	turn("microphone")
	p.do(chromedp.WaitVisible("#ask-row"))
	turn("camera")
	p.do(chromedp.WaitVisible("#photo"))
	turn("location")
	p.until(`document.querySelector("#location:enabled:checked") && document.querySelector("#trouble").textContent === ""`)
	p.accessible("recorder")
	p.fits("recorder")
	p.shoot("recorder")
	p.do(chromedp.Sleep(4 * time.Second)) // by then the man has spoken
	turn("microphone")
	sent()
	first := day(1, 1)
	if list, err := c.Devices(t.Context()); err != nil || len(list) != 1 || !list[0].Connected || list[0].Battery == nil {
		t.Errorf("%+v, %v", list, err)
	}

	// The page obeys a pause and its end, which it learns from the answers to its requests.
	if _, err := c.Pause(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	turn("microphone")
	p.until(`document.querySelector("#says").textContent === "Paused by you"`)
	if _, err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.until(`document.querySelector("#says").textContent === "Recording"`)
	turn("microphone")
	sent()

	// The page obeys what the node answers while the service worker sends.
	if _, err := c.Pause(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Evaluate(`(async () => {
		locketQueue.ask = () => Promise.reject(new Error("the page does not ask"));
		await locketQueue.add("text", {boot: 1, seq: 1, text: "x"});
		await (await navigator.serviceWorker.ready).sync.register("locket-send");
	})()`, nil, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	p.until(`document.querySelector("#says").textContent === "Paused by you"`)
	if _, err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}

	// A link replaces the pairing only if the wearer agrees and the node knows it.
	other := func(link string) {
		t.Helper()
		p.do(chromedp.Navigate(link), chromedp.Reload(), chromedp.WaitVisible("#repair"))
		p.says("It is paired as phone.")
	}
	other("https://" + line.at + "/wear/#name=x&password=yyyyyyyy")
	p.accessible("recorder-repair")
	p.shoot("recorder-repair")
	p.do(chromedp.Click("#repair-yes"))
	p.says("The node does not know the name and password of this link.")
	p.do(chromedp.Click("#repair-no"), chromedp.WaitVisible("#microphone"))
	p.until(`location.hash === "" && document.querySelector("#name").textContent === "phone"`)
	sent()

	// Without the node, the page starts and records.
	line.cut()
	p.do(chromedp.Reload(), chromedp.WaitVisible("#microphone"))
	p.until(`document.querySelector("#name").textContent === "phone"`)
	turn("microphone")
	p.until(`Number(document.body.dataset.waiting) > 3 && document.querySelector("#waits").textContent.startsWith("The node can't be reached")`)
	p.shoot("recorder-away")
	if err := line.join(); err != nil {
		t.Fatal(err)
	}
	turn("microphone")
	sent()
	day(first+1, 1)

	if out, err = command(home, append(door, "--json", "wearable", "add", "tablet")...); err != nil {
		t.Fatal(err)
	}
	var tablet serve.DeviceCredentials
	if err := json.Unmarshal([]byte(out), &tablet); err != nil {
		t.Fatal(err)
	}
	other(string(tablet.Page))
	p.do(chromedp.Click("#repair-yes"), chromedp.WaitVisible("#microphone"))
	p.until(`document.querySelector("#name").textContent === "tablet"`)
	sent()
}
