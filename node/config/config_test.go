package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// alone isolates a test from the machine's own folders.
func alone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, v := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LocalAppData", "AppData", "USERPROFILE"} {
		t.Setenv(v, dir)
	}
	return dir
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaultsAreValid(t *testing.T) {
	alone(t)
	l, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if !l.Broker.Embedded || l.Retention.Audio.Age != Duration(30*Day) || l.File != "" {
		t.Fatalf("%+v", l.Config)
	}
	var c Config
	c.Defaults()
	if c.Home != l.Home || !reflect.DeepEqual(c.API, l.API) || !reflect.DeepEqual(c.Retention, l.Retention) {
		t.Fatalf("a zero Config with its defaults is %+v, what Load gives is %+v", c, l.Config)
	}
	for _, s := range l.Settings() {
		if s.Origin.String() != "default" {
			t.Errorf("%s comes from %s", s.Key, s.Origin)
		}
	}
}

func TestProfileChoosesDefaultsAndWrittenValuesStay(t *testing.T) {
	alone(t)
	file := write(t, filepath.Join(t.TempDir(), "c.toml"), "profile = \"wearable\"\nretention.audio.bytes = \"0\"\n")
	l, err := Load(Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if l.Retention.Audio.Bytes != 0 {
		t.Errorf("a written zero became %v", l.Retention.Audio.Bytes)
	}
	if l.Retention.Photo.Bytes != 512e6 {
		t.Errorf("photos of the wearable profile: %v", l.Retention.Photo.Bytes)
	}
}

func TestFileThenEnvironmentThenFlags(t *testing.T) {
	alone(t)
	file := write(t, filepath.Join(t.TempDir(), "c.toml"), strings.Join([]string{
		`wearer = "from file"`,
		`zone = "Asia/Shanghai"`,
		`plugins.disabled = ["scene", "speech"]`,
		``,
		`[broker]`,
		`url = "ssl://user:hunter2@broker.example:8883"`,
		`ca = "ca.pem"`,
		`[retention]`,
		`audio = { bytes = "64MB", age = "2w" }`,
		`[log]`,
		`level = "debug"`,
	}, "\n"))
	l, err := Load(Sources{
		File:    file,
		Environ: []string{"LOCKET_ZONE=Europe/Berlin", "LOCKET_LOG_LEVEL=info", "PATH=/bin"},
		Flags:   []Flag{{"--log-level", "log.level", "error"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]string{}
	for _, s := range l.Settings() {
		got[s.Key] = [2]string{s.Value, s.Origin.String()}
	}
	for key, want := range map[string][2]string{
		"wearer":                {"from file", file + ":1"},
		"zone":                  {"Europe/Berlin", "LOCKET_ZONE"},
		"plugins.disabled":      {"scene,speech", file + ":3"},
		"broker.url":            {"ssl://user:xxxxx@broker.example:8883", file + ":6"},
		"broker.ca":             {filepath.Join(filepath.Dir(file), "ca.pem"), file + ":7"},
		"retention.audio.bytes": {"64MB", file + ":9"},
		"retention.audio.age":   {"14d", file + ":9"},
		"log.level":             {"error", "--log-level"},
		"log.format":            {"text", "default"},
		"broker.embedded":       {"false", "default"},
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if l.Broker.URL != "ssl://user:hunter2@broker.example:8883" {
		t.Errorf("only what is printed is masked, the setting is %q", l.Broker.URL)
	}
}

func TestEveryKeyFromEverySource(t *testing.T) {
	alone(t)
	text := map[string]string{
		"home": "/h", "wearer": "Ann", "zone": "UTC", "languages": "en,pt-BR", "profile": "wearable", "metrics": "off",
		"broker.url": "", "broker.embedded": "true", "broker.listen": "127.0.0.1:0",
		"broker.public_url": "ssl://h:1", "broker.tls_cert": "/c", "broker.tls_key": "/k",
		"broker.cert": "/cc", "broker.key": "/ck",
		"api.listen": "127.0.0.1:7000", "api.console": "127.0.0.1:7001", "api.proxies": "127.0.0.1,10.0.0.0/8", "api.ask_token": "true", "api.remote": "0.0.0.0:7332", "api.public_url": "https://node.example",
		"proxy.url": "http://127.0.0.1:11434", "proxy.learn": "true", "mcp.learn": "true", "homeassistant.url": "tcp://h:1883", "homeassistant.prefix": "ha", "proxy.budget": "900", "unlock.key_file": "/key", "unlock.keyring": "false",
		"unlock.passphrase_env": "", "unlock.passphrase_file": "",
		"log.level": "debug", "log.format": "json", "plugins.disabled": "a,b", "retention.rules": "type:core 3d,tag:a 4d",
		"sync.relay": "https://relay.example:8443", "sync.vault": "true", "sync.lan": "true", "sync.metered": "auto", "sync.compact": "true", "sync.snapshots": "900",
		"zones.location_age": "20m", "zones.unknown": "drop", "voices.known_only": "true", "pause.button": "double",
		"dense.url": "https://llm.example/v1", "dense.rerank_url": "", "dense.key": "", "dense.key_file": "/dk", "dense.within": "1s",
		"llm.url": "https://llm.example/v1", "llm.key": "", "llm.key_file": "/lk", "llm.extract": "true", "llm.topic": "true",
		"llm.format": "object", "llm.timeout": "30s", "llm.max_tokens": "900", "hot.records": "800",
		"backup.to": "s3://bucket/locket", "backup.every": "12h", "backup.without_vault": "true",
		"telemetry.url": "http://127.0.0.1:4318", "telemetry.every": "30s",
	}
	value := func(k key) string {
		if v, ok := text[k.name]; ok {
			return v
		}
		switch {
		case k.kind == "path":
			return "/some/path"
		case strings.HasSuffix(k.name, ".age"):
			return "3d"
		case strings.HasSuffix(k.name, ".bytes"), k.name == "disk.reserve":
			return "7MB"
		}
		return "word"
	}
	var file strings.Builder
	var env []string
	var flags []Flag
	for _, k := range keys() {
		v := value(k)
		env = append(env, k.env+"="+v)
		flags = append(flags, Flag{"--set", k.name, v})
		switch {
		case v == "true" || v == "false":
			file.WriteString(k.name + " = " + v + "\n")
		case strings.Contains(v, ","):
			file.WriteString(k.name + " = [\"" + strings.ReplaceAll(v, ",", "\", \"") + "\"]\n")
		default:
			file.WriteString(k.name + " = \"" + v + "\"\n")
		}
	}
	path := write(t, filepath.Join(t.TempDir(), "all.toml"), file.String())
	for name, s := range map[string]Sources{
		"file": {File: path}, "env": {Environ: env}, "flag": {Flags: flags},
	} {
		l, err := Load(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, k := range keys() {
			if got := l.Settings()[i]; got.Value != value(k) || string(got.Origin.Kind) != name {
				t.Errorf("%s from %s: %q of %s, want %q", k.name, name, got.Value, got.Origin, value(k))
			}
		}
	}
}

func TestWhereTheFileIsLookedFor(t *testing.T) {
	root := alone(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(root, "conf"))
	platform := platformFile()
	inHome := write(t, filepath.Join(defaultHome(), FileName), `wearer = "default home"`)
	other := write(t, filepath.Join(root, "other", FileName), `wearer = "other home"`)
	named := write(t, filepath.Join(root, "named.toml"), `wearer = "named"`)

	expect := func(s Sources, file, wearer string) {
		t.Helper()
		l, err := Load(s)
		if err != nil {
			t.Fatal(err)
		}
		if l.File != file || l.Wearer != wearer {
			t.Fatalf("read %q for %q, want %q for %q", l.File, l.Wearer, file, wearer)
		}
	}
	expect(Sources{}, inHome, "default home")
	write(t, platform, `wearer = "platform"`)
	expect(Sources{}, platform, "platform")
	expect(Sources{Flags: []Flag{{"--home", "home", filepath.Dir(other)}}}, other, "other home")
	expect(Sources{Environ: []string{"LOCKET_HOME=" + filepath.Dir(other)}}, other, "other home")
	expect(Sources{Flags: []Flag{{"--home", "home", filepath.Join(root, "none")}}}, "", "User")
	expect(Sources{Environ: []string{"LOCKET_CONFIG=" + named}}, named, "named")
	expect(Sources{File: other, Environ: []string{"LOCKET_CONFIG=" + named}}, other, "other home")
	if _, err := Load(Sources{File: filepath.Join(root, "missing.toml")}); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a named file that is missing: %v", err)
	}
}

func TestWrongSettingsNameTheirPlace(t *testing.T) {
	alone(t)
	for _, c := range []struct {
		name, file string
		env        []string
		flags      []Flag
		want       []string
	}{
		{name: "unknown key", file: "wearer = \"a\"\n\n[broker]\nurll = \"x\"\n", want: []string{"c.toml:4:", `"broker.urll"`, "did you mean broker.url?"}},
		{name: "unknown table", file: "[brocker]\nurl = \"x\"\n", want: []string{"c.toml:1:", "brocker"}},
		{name: "wrong type", file: "# one\nwearer = 3\n", want: []string{"c.toml:2:", "wearer"}},
		{name: "bool as text", file: "[broker]\nembedded = \"yes\"\n", want: []string{"c.toml:2:", "embedded"}},
		{name: "bad size", file: "[disk]\n\nreserve = \"lots\"\n", want: []string{"c.toml:3:", "lots", "64MB"}},
		{name: "bad age", file: "[retention.audio]\nage = \"-3d\"\n", want: []string{"c.toml:2:", "-3d", "30d"}},
		{name: "twice", file: "wearer = \"a\"\nwearer = \"b\"\n", want: []string{"c.toml:2:", "wearer"}},
		{name: "not TOML", file: "wearer = \"a\"\nzone = = 3\n", want: []string{"c.toml:2:"}},
		{name: "bad value", file: "[log]\nlevel = \"loud\"\n", want: []string{"c.toml:2:", "log.level", "loud", "debug or info"}},
		{name: "bad zone", file: "zone = \"Mars/Base\"\n", want: []string{"c.toml:1:", "zone", "Europe/Berlin"}},
		{name: "a zone in small letters", file: "zone = \"asia/shanghai\"\n", want: []string{"c.toml:1:", "zone", "did you mean Asia/Shanghai?"}},
		{name: "a zone with a letter missing", file: "zone = \"Europe/Berln\"\n", want: []string{"c.toml:1:", "zone", "did you mean Europe/Berlin?"}},
		{name: "a code of no language", file: "languages = [\"en\", \"xx\"]\n", want: []string{"c.toml:1:", "languages", "xx", "no language has this code; want codes such as en, de"}},
		{name: "the code of a country", file: "languages = [\"cn-TW\"]\n", want: []string{"languages", "cn-TW", "(Chinese is zh)"}},
		{name: "a language's name", file: "languages = [\"en\", \"German\"]\n", want: []string{"c.toml:1:", "languages", "German", "en, de or pt-BR"}},
		{name: "unknown variable", env: []string{"LOCKET_WAERER=a"}, want: []string{"LOCKET_WAERER", "did you mean LOCKET_WEARER?"}},
		{name: "wrong variable", env: []string{"LOCKET_BROKER_EMBEDDED=perhaps"}, want: []string{"LOCKET_BROKER_EMBEDDED", "perhaps", "true or false"}},
		{name: "wrong flag", flags: []Flag{{"--set", "broker.listen", "here"}}, want: []string{"--set", "broker.listen", "host:port"}},
		{name: "unknown --set", flags: []Flag{{"--set", "broker.ur", "x"}}, want: []string{"--set", "broker.ur", "did you mean broker.url?"}},
		{name: "bad broker", env: []string{"LOCKET_BROKER_URL=http://user:hunter2@x"}, want: []string{"LOCKET_BROKER_URL", "tcp://"}},
		{name: "both brokers", file: "broker.url = \"tcp://b:1883\"\n", env: []string{"LOCKET_BROKER_EMBEDDED=true"}, want: []string{"LOCKET_BROKER_EMBEDDED", "c.toml:1", "choose one"}},
		{name: "no broker", file: "broker.embedded = false\n", want: []string{"c.toml:1", "broker.url is not set"}},
		{name: "two unlocks", file: "[unlock]\nkeyring = true\nkey_file = \"k\"\n", want: []string{"c.toml:2", "unlock.key_file", "choose one"}},
		{name: "half a pair", file: "[broker]\ntls_cert = \"c.pem\"\n", want: []string{"c.toml:2", "broker.tls_key", "both"}},
		{name: "public API", file: "api.listen = \"0.0.0.0:80\"\n", want: []string{"c.toml:1", "loopback"}},
		{name: "public console", file: "api.console = \"0.0.0.0:80\"\n", want: []string{"c.toml:1", "this machine only"}},
		{name: "relative socket", file: "api.listen = \"unix:s\"\n", want: []string{"c.toml:1", "absolute"}},
		{name: "long socket", file: "api.listen = \"unix:/" + strings.Repeat("a", 110) + "\"\n", want: []string{"c.toml:1", "103 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Sources{Environ: c.env, Flags: c.flags}
			if c.file != "" {
				s.File = write(t, filepath.Join(t.TempDir(), "c.toml"), c.file)
			}
			l, err := Load(s)
			if err == nil {
				t.Fatalf("taken: %+v", l.Config)
			}
			if !errors.Is(err, ErrConfig) {
				t.Errorf("%v does not wrap ErrConfig", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q shows a password", err)
			}
		})
	}
}

func TestPassphraseVariableIsNoSetting(t *testing.T) {
	alone(t)
	env := []string{"LOCKET_PASSPHRASE=x", "LOCKET_UNLOCK_PASSPHRASE_ENV=LOCKET_PASSPHRASE"}
	if _, err := Load(Sources{Environ: env}); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(Sources{Environ: env[:1]}); err == nil {
		t.Fatal("LOCKET_PASSPHRASE is taken where nothing reads it")
	}
}

// A variable that a document tells readers to set in the shell does not stop
// any command.
func TestVariablesOfTheDocuments(t *testing.T) {
	alone(t)
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`LOCKET_[A-Z_]+`).FindAllString(string(text), -1) {
			seen[name] = file
		}
	}
	if len(seen) < 5 {
		t.Fatalf("the documents name %v", seen)
	}
	l := &Loaded{}
	for name, file := range seen {
		if err := l.checkVariables(map[string]string{name: "x"}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSizesAndDurations(t *testing.T) {
	for s, want := range map[string]Size{
		"0": 0, "12": 12, "64MB": 64e6, "2GiB": 2 << 30, "1.5kb": 1500, " 3 MiB ": 3 << 20, "7B": 7,
	} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("size %q: %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-1", "MB", "1e3", "0x10", "NaN", "Inf", "99999999TB", "1 2MB", "1.2.3MB"} {
		if got, err := parseSize(s); err == nil {
			t.Errorf("size %q is taken as %d", s, got)
		}
	}
	for s, want := range map[string]time.Duration{
		"10m": 10 * time.Minute, "30d": 30 * Day, "2w": 14 * Day, "1d12h": 36 * time.Hour,
		"1w1d": 8 * Day, "0": 0, "1h30m": 90 * time.Minute, "0.5d": 12 * time.Hour,
	} {
		if got, err := ParseDuration(s); err != nil || time.Duration(got) != want {
			t.Errorf("duration %q: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-1h", "5", "d", "1d-5h", "999999w", "1dd", "30 days"} {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("duration %q is taken as %v", s, got)
		}
	}
}

func FuzzUnits(f *testing.F) {
	for _, s := range []string{"64MB", "1.5GiB", "30d", "1d12h", "2w", "9223372036854775807", "0.1d", "106751d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := parseSize(s); err == nil {
			if back, err := parseSize(v.String()); err != nil || v < 0 {
				t.Fatalf("%q is %d, written %q, read %d, %v", s, v, v, back, err)
			}
		}
		if v, err := ParseDuration(s); err == nil {
			if back, err := ParseDuration(v.String()); err != nil || back != v || v < 0 {
				t.Fatalf("%q is %d, written %q, read %d, %v", s, v, v, back, err)
			}
		}
	})
}

func FuzzFile(f *testing.F) {
	f.Add("wearer = \"a\"\n[broker]\nurl = \"tcp://b:1\"\n")
	f.Add("retention = { audio = { bytes = \"1MB\" } }")
	f.Add("[[broker]]\nurl = \"x\"")
	f.Fuzz(func(t *testing.T, text string) {
		l := &Loaded{origins: map[string]Origin{}}
		var over Config
		if err := l.takeFile(&over, "/c.toml", []byte(text)); err != nil {
			if !errors.Is(err, ErrConfig) {
				t.Fatal(err)
			}
			return
		}
		for name, o := range l.origins {
			if o.Line < 1 || o.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%s at line %d of %q", name, o.Line, text)
			}
		}
	})
}
