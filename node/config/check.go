package config

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/tzdata"
)

// maxSocket is the maximum length of the path of a Unix socket that every
// platform accepts (sun_path has 104 bytes on macOS, 108 on Linux, one of them
// the final zero).
const maxSocket = 103

// twoLetters are the languages of ISO 639-1. Other languages have three letters.
const twoLetters = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv " +
	"ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny " +
	"oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"

// meantBy are codes of countries that people take for those of their languages.
var meantBy = map[string]string{"cn": " (Chinese is zh)", "jp": " (Japanese is ja)", "gr": " (Greek is el)", "cz": " (Czech is cs)", "dk": " (Danish is da)", "ua": " (Ukrainian is uk)"}

// languageTag matches an ISO 639 language code, and the subtags that BCP 47
// allows after it.
var languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// check reports the first rule that a setting breaks, naming its place.
func (l *Loaded) check() error {
	for _, e := range []struct {
		key, value string
		want       []string
	}{
		{"profile", l.Profile, []string{Default, Wearable}},
		{"zones.unknown", l.Zones.Unknown, []string{"take", "drop"}},
		{"pause.button", l.Pause.Button, []string{NoButton, "single", "double", "long"}},
		{"metrics", l.Metrics, []string{"on", "off"}},
		{"log.level", l.Log.Level, []string{"debug", "info", "warn", "error"}},
		{"log.format", l.Log.Format, []string{"text", "json"}},
	} {
		if !slices.Contains(e.want, e.value) {
			return l.wrong(e.key, "%q: want %s", e.value, strings.Join(e.want, " or "))
		}
	}
	if !filepath.IsAbs(l.Home) {
		return l.wrong("home", "%q: no home folder is known: name one", l.Home)
	}
	if l.Wearer == "" {
		return l.wrong("wearer", "empty: want a name")
	}
	if _, err := l.Location(); err != nil {
		if like := tzdata.Like(l.Zone); len(like) > 0 {
			return l.wrong("zone", "%q: there is no such zone: did you mean %s?", l.Zone, strings.Join(like, " or "))
		}
		return l.wrong("zone", "%q: want a name such as Europe/Berlin, or Local", l.Zone)
	}
	for _, tag := range l.Languages {
		if !languageTag.MatchString(tag) {
			return l.wrong("languages", "%q: want codes such as en, de or pt-BR", tag)
		}
		if main, _, _ := strings.Cut(tag, "-"); len(main) == 2 && !slices.Contains(strings.Fields(twoLetters), main) {
			return l.wrong("languages", "%q: no language has this code%s; want codes such as en, de or pt-BR", tag, meantBy[main])
		}
	}
	if err := l.checkBroker(); err != nil {
		return err
	}
	if _, _, err := l.Endpoint(); err != nil {
		return l.wrong("api.listen", "%v", err)
	}
	if host, port, err := net.SplitHostPort(l.API.Console); err != nil || !isPort(port) || !clientaddr.Loopback(host) {
		return l.wrong("api.console", "%q: want 127.0.0.1:PORT: the console is for this machine only", l.API.Console)
	}
	if err := l.checkProxy(); err != nil {
		return err
	}
	if err := l.checkHomeAssistant(); err != nil {
		return err
	}
	if err := l.checkRemote(); err != nil {
		return err
	}
	if err := l.checkBackup(); err != nil {
		return err
	}
	if err := l.checkTelemetry(); err != nil {
		return err
	}
	if err := l.checkSync(); err != nil {
		return err
	}
	if err := l.checkDense(); err != nil {
		return err
	}
	if err := l.checkLLM(); err != nil {
		return err
	}
	if _, err := ParseRules(l.Retention.Rules); err != nil {
		return l.wrong("retention.rules", "%v", err)
	}
	return l.checkUnlock()
}

func (l *Loaded) checkRemote() error {
	a := &l.API
	if _, port, err := net.SplitHostPort(a.Remote); a.Remote != "" && (err != nil || !isPort(port) || port == "0") {
		return l.wrong("api.remote", "%q: want host:port, such as 0.0.0.0:7332", a.Remote)
	}
	if u, err := url.Parse(a.Public); a.Public != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "") {
		return l.wrong("api.public_url", "want a URL such as https://locket.example")
	}
	if _, err := clientaddr.ParseProxies(a.Proxies); err != nil {
		return l.wrong("api.proxies", "%v", err)
	}
	return nil
}

func (l *Loaded) checkSync() error {
	if l.Sync.Relay == "" {
		return nil
	}
	u, err := url.Parse(l.Sync.Relay)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return l.wrong("sync.relay", "want a URL such as https://relay.example:8443")
	}
	return nil
}

func (l *Loaded) checkBroker() error {
	b := &l.Broker
	if b.URL != "" && b.Embedded {
		return l.wrong("broker.embedded", "true, and broker.url is set at %s: choose one", l.Origin("broker.url"))
	}
	if b.URL == "" && !b.Embedded {
		return l.wrong("broker.embedded", "false, and broker.url is not set: choose one")
	}
	for _, u := range []struct{ key, value string }{{"broker.url", b.URL}, {"broker.public_url", b.Public}} {
		if u.value == "" {
			continue
		}
		if err := l.checkBrokerURL(u.key, u.value); err != nil {
			return err
		}
	}
	if _, port, err := net.SplitHostPort(b.Listen); err != nil || !isPort(port) {
		return l.wrong("broker.listen", "%q: want host:port", b.Listen)
	}
	for _, p := range [][2]string{{"broker.cert", "broker.key"}, {"broker.tls_cert", "broker.tls_key"}, {"api.tls_cert", "api.tls_key"}} {
		one, _ := findKey(p[0])
		two, _ := findKey(p[1])
		if a, b := one.text(&l.Config), two.text(&l.Config); (a == "") != (b == "") {
			name, other := p[0], p[1]
			if a == "" {
				name, other = other, name
			}
			return l.wrong(name, "is set, and %s is not: both are needed", other)
		}
	}
	return nil
}

func (l *Loaded) checkBrokerURL(key, value string) error {
	parsed, err := url.Parse(value)
	schemes := []string{"tcp", "mqtt", "ssl", "tls", "mqtts", "ws", "wss"}
	if err != nil || parsed.Host == "" || !slices.Contains(schemes, parsed.Scheme) {
		return l.wrong(key, "want a URL such as tcp://host:1883 or ssl://host:8883")
	}
	return nil
}

// unlocks are the settings that each say how the node is unlocked.
var unlocks = []string{"unlock.passphrase_env", "unlock.passphrase_file", "unlock.key_file", "unlock.keyring"}

func (l *Loaded) checkUnlock() error {
	var set []string
	for _, name := range unlocks {
		if k, _ := findKey(name); !k.of(&l.Config).IsZero() {
			set = append(set, name)
		}
	}
	if len(set) > 1 {
		return l.wrong(set[1], "is set, and so is %s at %s: choose one", set[0], l.Origin(set[0]))
	}
	return nil
}

// Location returns the wearer's time zone.
func (c *Config) Location() (*time.Location, error) {
	if c.Zone == "" || c.Zone == "Local" {
		return time.Local, nil
	}
	return time.LoadLocation(c.Zone)
}

// Endpoint returns where the API listens, for net.Listen and net.Dial: "unix"
// and a path, or "tcp" and a loopback address.
func (c *Config) Endpoint() (network, address string, err error) {
	if path, ok := strings.CutPrefix(c.API.Listen, "unix:"); ok {
		switch {
		case !filepath.IsAbs(path):
			return "", "", fmt.Errorf("%q: want unix: and an absolute path", c.API.Listen)
		case len(path) > maxSocket:
			return "", "", fmt.Errorf("%q: a socket's path has at most %d bytes: choose a shorter one, or 127.0.0.1:PORT", path, maxSocket)
		}
		return "unix", path, nil
	}
	host, port, err := net.SplitHostPort(c.API.Listen)
	if err != nil || !isPort(port) {
		return "", "", fmt.Errorf("%q: want unix:PATH or 127.0.0.1:PORT", c.API.Listen)
	}
	if !clientaddr.Loopback(host) {
		return "", "", fmt.Errorf("%q is not on loopback: the API is for this machine only", c.API.Listen)
	}
	return "tcp", c.API.Listen, nil
}

// SlogLevel returns log.level for package slog.
func (c *Config) SlogLevel() slog.Level {
	var v slog.Level
	if err := v.UnmarshalText([]byte(c.Log.Level)); err != nil {
		return slog.LevelWarn
	}
	return v
}

// InClear reports whether what wearables send, passwords included, crosses a
// network unencrypted: to the node's own broker from other machines, or from an
// external broker elsewhere.
func (c *Config) InClear() bool {
	if c.Broker.URL == "" {
		host, _, err := net.SplitHostPort(c.Broker.Listen)
		return err == nil && c.Broker.TLSCert == "" && !clientaddr.Loopback(host)
	}
	u, err := url.Parse(c.Broker.URL)
	return err == nil && slices.Contains([]string{"tcp", "mqtt", "ws"}, u.Scheme) && !clientaddr.Loopback(u.Hostname())
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}
