package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// ErrConfig wraps every error of [Load]: a setting is wrong where the error
// says it was written.
var ErrConfig = errors.New("configuration")

// ErrFlag is the ErrConfig of a setting that was given on the command line.
var ErrFlag = fmt.Errorf("%w", ErrConfig)

// Profiles.
const (
	Default  = "default"
	Wearable = "wearable" // little memory and disk
)

// NoButton: no press of a button pauses.
const NoButton = "none"

// Config is every setting. The zero value works after [Config.Defaults]; what
// [Load] gives is filled already.
type Config struct {
	Home       string    `toml:"home" kind:"path"`       // the node's folder
	Wearer     string    `toml:"wearer"`                 // whose memory it is: tells "I" from "you"
	Zone       string    `toml:"zone"`                   // IANA name; "Local": the machine's
	Languages  []string  `toml:"languages"`              // spoken around the wearer, as "de" or "pt-BR", for engines; empty: not known
	Profile    string    `toml:"profile"`                // "default", or "wearable" for little memory and disk
	Metrics    string    `toml:"metrics"`                // "on" or "off"
	Categories string    `toml:"categories" kind:"path"` // file of the wearer's own categories
	Broker     Broker    `toml:"broker"`
	API        API       `toml:"api"`
	Unlock     Unlock    `toml:"unlock"`
	Retention  Retention `toml:"retention"`
	Disk       Disk      `toml:"disk"`
	Hot        Hot       `toml:"hot"`
	Zones      Zones     `toml:"zones"`
	Pause      Pause     `toml:"pause"`
	Log        Log       `toml:"log"`
	Plugins    Plugins   `toml:"plugins"`
	Sync       Sync      `toml:"sync"`
	LLM        LLM       `toml:"llm"`
	Dense      Dense     `toml:"dense"`
	Recall     Recall    `toml:"recall"`
	Proxy      Proxy     `toml:"proxy"`
	MCP        MCP       `toml:"mcp"`
	Backup     Backup    `toml:"backup"`
	Telemetry  Telemetry `toml:"telemetry"`
	Voices     Voices    `toml:"voices"`
	Bridge     Bridge    `toml:"bridge"`

	HomeAssistant HomeAssistant `toml:"homeassistant"`
}

// Broker is where the wearables' events come from: somebody's broker at URL, or the
// node's own at Listen if URL is empty.
type Broker struct {
	URL          string `toml:"url" kind:"url"` // tcp, ssl, mqtt, mqtts, ws or wss
	Username     string `toml:"username"`
	PasswordFile string `toml:"password_file" kind:"path"`
	CA           string `toml:"ca" kind:"path"`   // PEM; empty: the system's
	Cert         string `toml:"cert" kind:"path"` // PEM, of this client
	Key          string `toml:"key" kind:"path"`
	ClientID     string `toml:"client_id"`
	Embedded     bool   `toml:"embedded"`
	Listen       string `toml:"listen"`                // embedded: host:port
	TLSCert      string `toml:"tls_cert" kind:"path"`  // embedded: PEM; with it, TLS only
	TLSKey       string `toml:"tls_key" kind:"path"`   // embedded: PEM
	Public       string `toml:"public_url" kind:"url"` // embedded: URL that devices are told; empty: from Listen
}

// API is where commands speak to the daemon.
type API struct {
	Listen    string `toml:"listen"`                 // "unix:PATH", or host:port on loopback
	TokenFile string `toml:"token_file" kind:"path"` // for TCP; made by the daemon where it does not exist
	// AskToken has the Unix socket ask for the token too, or an app's key.
	AskToken bool `toml:"ask_token"`
	// MetricsTokenFile is for TCP, and made as TokenFile is. Its token reads /metrics
	// and nothing else.
	MetricsTokenFile string `toml:"metrics_token_file" kind:"path"`
	// Remote is where apps on other machines ask, over TLS alone: host:port, such as
	// 0.0.0.0:7332; empty: nowhere.
	Remote  string `toml:"remote"`
	TLSCert string `toml:"tls_cert" kind:"path"`  // remote: PEM; empty: the node makes its own
	TLSKey  string `toml:"tls_key" kind:"path"`   // remote: PEM
	Public  string `toml:"public_url" kind:"url"` // remote: https URL that apps are told; empty: from Remote
	// Proxies are addresses and networks of reverse proxies before Remote, whose
	// X-Forwarded-For is believed. Clients of one that is not listed share its limits.
	Proxies []string `toml:"proxies"`
	Console string   `toml:"console"` // host:port on loopback for the page of locket open; port 0: any
}

// Unlock says how the daemon opens its keys without a person. At most one is set.
// With none it starts locked, and takes events in all the same.
type Unlock struct {
	PassphraseEnv  string `toml:"passphrase_env"` // name of an environment variable
	PassphraseFile string `toml:"passphrase_file" kind:"path"`
	KeyFile        string `toml:"key_file" kind:"path"`
	Keyring        bool   `toml:"keyring"` // the OS keyring
}

// Retention says how long sources are kept; memories quote what they need. A source
// ends at the first of the two limits; 0 keeps none.
type Retention struct {
	Audio     Keep `toml:"audio"`
	Photo     Keep `toml:"photo"`
	Utterance Keep `toml:"utterance"`

	// Rules say how long memories are kept, as node/retention reads them:
	// "type:episodic 90d". The first that fits decides.
	Rules []string `toml:"rules"`
}

// Keep is how much of one kind, and for how long.
type Keep struct {
	Bytes Size     `toml:"bytes"`
	Age   Duration `toml:"age"`
}

// Disk is the watch on free space.
type Disk struct {
	Reserve Size `toml:"reserve"` // below it, events are refused
}

// Hot limits how many memories are kept whole on this device. Those that are asked
// for least leave a stub here, and their text is at the relay. 0 is no limit.
type Hot struct {
	Records Count `toml:"records"`
	Bytes   Size  `toml:"bytes"`
}

// Zones says what the private zones' gate believes; the zones themselves are
// set by command.
type Zones struct {
	Age     Duration `toml:"location_age"` // after this time, a location outside a zone no longer says that the wearer is outside it
	Unknown string   `toml:"unknown"`      // "take" or "drop": what becomes of events while the location is not known
}

// Pause says what pauses the wearables besides a command and the wearer's word.
type Pause struct {
	Button string `toml:"button"` // "none", or which press of a wearable's button pauses and ends that pause: "single", "double", "long"
}

// Log is what goes to standard error.
type Log struct {
	Level  string `toml:"level"`  // debug, info, warn, error
	Format string `toml:"format"` // text, json
}

// Voices says whose voices are kept.
type Voices struct {
	KnownOnly bool `toml:"known_only"` // neither words nor sound of voices that nobody enrolled or named are kept
}

// Bridge has the daemon run a locket-bridge, for wearables that don't speak MQTT; with an
// empty Config it runs none.
type Bridge struct {
	Config  string `toml:"config" kind:"path"`  // the file for locket-bridge run
	Program string `toml:"program" kind:"path"` // empty: locket-bridge beside this program, or else on the PATH
}

// Plugins chooses extractors.
type Plugins struct {
	Dir      string   `toml:"dir" kind:"path"` // of .wasm files besides the built-in ones
	Disabled []string `toml:"disabled"`        // names
}

// Defaults fills each field that is zero. To have a size or age of zero, set it
// afterwards.
func (c *Config) Defaults() {
	def(&c.Profile, Default)
	def(&c.Home, defaultHome())
	def(&c.Wearer, "User")
	def(&c.Zone, "Local")
	def(&c.Metrics, "on")
	def(&c.Categories, filepath.Join(c.Home, CategoriesFile))
	if c.Broker.URL == "" {
		c.Broker.Embedded = true
	}
	def(&c.Broker.Listen, "127.0.0.1:1883")
	def(&c.Broker.ClientID, "locket-node")
	def(&c.API.Listen, "unix:"+filepath.Join(c.Home, "locket.sock"))
	def(&c.API.TokenFile, filepath.Join(c.Home, "api.token"))
	def(&c.API.MetricsTokenFile, filepath.Join(c.Home, "metrics.token"))
	def(&c.API.Console, "127.0.0.1:0")
	def(&c.Plugins.Dir, filepath.Join(c.Home, "plugins"))
	def(&c.Zones.Age, Duration(15*time.Minute))
	def(&c.Zones.Unknown, "take")
	def(&c.Pause.Button, NoButton)
	def(&c.Dense.Within, Duration(400*time.Millisecond))
	def(&c.Sync.Snapshots, 1000)
	def(&c.Backup.Every, Duration(Day))
	def(&c.Telemetry.Every, Duration(time.Minute))
	def(&c.LLM.Format, "auto")
	def(&c.LLM.Timeout, Duration(2*time.Minute))
	def(&c.LLM.MaxTokens, 2000)
	def(&c.Log.Level, "warn")
	def(&c.Log.Format, "text")
	// A wearable's companion has a few GB of flash; a laptop has more.
	audio, photo, reserve := Size(2e9), Size(4e9), Size(1e9)
	if c.Profile == Wearable {
		audio, photo, reserve = 256e6, 512e6, 128e6
		def(&c.Hot.Records, 4000)
		def(&c.Hot.Bytes, Size(16e6))
	}
	def(&c.Retention.Audio.Bytes, audio)
	def(&c.Retention.Audio.Age, Duration(30*Day))
	def(&c.Retention.Photo.Bytes, photo)
	def(&c.Retention.Photo.Age, Duration(90*Day))
	def(&c.Retention.Utterance.Bytes, Size(1e9))
	def(&c.Retention.Utterance.Age, Duration(365*Day))
	def(&c.Disk.Reserve, reserve)
	def(&c.Sync.Metered, MeteredNo)
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Sync is with the wearer's other devices.
type Sync struct {
	Relay  string `toml:"relay" kind:"url"` // http(s)://HOST[:PORT]; empty: nothing leaves this machine
	Vault  bool   `toml:"vault"`            // secrets go to the other devices, too
	Invite string `toml:"invite"`           // code that the relay asks of a new account
	LAN    bool   `toml:"lan"`              // meet the wearer's other devices in the same network
	// Snapshots is how many deltas after the last snapshot this device makes
	// another. A number that is never reached means none.
	Snapshots Count `toml:"snapshots"`
	Compact   bool  `toml:"compact"` // have the relay drop what a verified snapshot covers

	// Interface is the one network interface to meet them on. Empty: every one that
	// has multicast.
	Interface string `toml:"interface"`
	// Metered: "yes", the line costs by the byte; "no"; or "auto", as NetworkManager has
	// it. Where it does, utterances and memories go; photos and recordings wait.
	Metered Metered `toml:"metered"`
}
