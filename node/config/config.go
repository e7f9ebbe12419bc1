package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// ErrConfig wraps every error of [Load]: a setting is wrong at the place that the error
// names.
var ErrConfig = errors.New("configuration")

// ErrFlag is the ErrConfig of a setting that was given on the command line.
var ErrFlag = fmt.Errorf("%w", ErrConfig)

// Profiles.
const (
	Default  = "default"
	Wearable = "wearable" // little memory and disk
)

// NoButton means that no press of a button pauses the node.
const NoButton = "none"

// Config has all settings. The zero value works after [Config.Defaults]; a Config from
// [Load] has the defaults already.
type Config struct {
	Home       string    `toml:"home" kind:"path"`       // the node's folder
	Wearer     string    `toml:"wearer"`                 // the owner's name, which tells "I" from "you"
	Zone       string    `toml:"zone"`                   // IANA name; "Local": the machine's
	Languages  []string  `toml:"languages"`              // spoken around the wearer, as "de" or "pt-BR", for engines; empty: unknown
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

// Broker is where the wearables' events come from: an external broker at URL, or the
// node's own at Listen if URL is empty.
type Broker struct {
	URL          string `toml:"url" kind:"url"` // tcp, ssl, mqtt, mqtts, ws or wss
	Username     string `toml:"username"`
	PasswordFile string `toml:"password_file" kind:"path"`
	CA           string `toml:"ca" kind:"path"`   // PEM; empty: the system's
	Cert         string `toml:"cert" kind:"path"` // PEM, the certificate of this client
	Key          string `toml:"key" kind:"path"`
	ClientID     string `toml:"client_id"`
	Embedded     bool   `toml:"embedded"`
	Listen       string `toml:"listen"`                // embedded: host:port
	TLSCert      string `toml:"tls_cert" kind:"path"`  // embedded: PEM; with it, TLS only
	TLSKey       string `toml:"tls_key" kind:"path"`   // embedded: PEM
	Public       string `toml:"public_url" kind:"url"` // embedded: URL that devices are told; empty: from Listen
}

// API is where the daemon serves commands.
type API struct {
	Listen    string `toml:"listen"`                 // "unix:PATH", or host:port on loopback
	TokenFile string `toml:"token_file" kind:"path"` // for TCP; the daemon makes it if it does not exist
	// AskToken requires the token, or an app's key, on the Unix socket, too.
	AskToken bool `toml:"ask_token"`
	// MetricsTokenFile is for TCP, and made like TokenFile. Its token only reads
	// /metrics.
	MetricsTokenFile string `toml:"metrics_token_file" kind:"path"`
	// Remote is where apps on other machines connect, only over TLS: host:port, such as
	// 0.0.0.0:7332; empty: nowhere.
	Remote  string `toml:"remote"`
	TLSCert string `toml:"tls_cert" kind:"path"`  // remote: PEM; empty: the node makes its own
	TLSKey  string `toml:"tls_key" kind:"path"`   // remote: PEM
	Public  string `toml:"public_url" kind:"url"` // remote: https URL that apps are told; empty: from Remote
	// Proxies are addresses and networks of reverse proxies before Remote, whose
	// X-Forwarded-For is trusted. All clients of a proxy that is not listed share its
	// limits.
	Proxies []string `toml:"proxies"`
	Console string   `toml:"console"` // host:port on loopback for the page of locket open; port 0: any
}

// Unlock says how the daemon opens its keys without a person. At most one is set. If none
// is, the daemon starts locked, and takes events nevertheless.
type Unlock struct {
	PassphraseEnv  string `toml:"passphrase_env"` // name of an environment variable
	PassphraseFile string `toml:"passphrase_file" kind:"path"`
	KeyFile        string `toml:"key_file" kind:"path"`
	Keyring        bool   `toml:"keyring"` // the OS keyring
}

// Retention says how long sources are kept; memories quote what they need. A source is
// removed when it reaches the first of the two limits; 0 keeps none.
type Retention struct {
	Audio     Keep `toml:"audio"`
	Photo     Keep `toml:"photo"`
	Utterance Keep `toml:"utterance"`

	// Rules say how long memories are kept, in the form that node/retention reads:
	// "type:episodic 90d". The first rule that matches decides.
	Rules []string `toml:"rules"`
}

// Keep limits the amount and the age of one kind of source.
type Keep struct {
	Bytes Size     `toml:"bytes"`
	Age   Duration `toml:"age"`
}

// Disk is about free disk space.
type Disk struct {
	Reserve Size `toml:"reserve"` // below it, events are refused
}

// Hot limits how many memories are kept completely on this device. Of those that are used
// least only a stub stays here, and their text is at the relay. 0 means no limit.
type Hot struct {
	Records Count `toml:"records"`
	Bytes   Size  `toml:"bytes"`
}

// Zones configures when the wearer counts as being in a private zone; the zones
// themselves are set by command.
type Zones struct {
	Age     Duration `toml:"location_age"` // after this time, a location outside a zone no longer says that the wearer is outside it
	Unknown string   `toml:"unknown"`      // "take" or "drop": what is done with events while the location is unknown
}

// Pause says what pauses the node, besides a command and the wearer's spoken order.
type Pause struct {
	Button string `toml:"button"` // "none", or the press of a wearable's button that begins and ends a pause: "single", "double", "long"
}

// Log configures the log on standard error.
type Log struct {
	Level  string `toml:"level"`  // debug, info, warn, error
	Format string `toml:"format"` // text, json
}

// Voices configures whose voices are kept.
type Voices struct {
	KnownOnly bool `toml:"known_only"` // neither words nor sound of voices that nobody enrolled or named are kept
}

// Bridge has the daemon run a locket-bridge, for wearables that don't speak MQTT; with an
// empty Config it runs none.
type Bridge struct {
	Config  string `toml:"config" kind:"path"`  // the file for locket-bridge run
	Program string `toml:"program" kind:"path"` // empty: locket-bridge beside this program, otherwise on the PATH
}

// Plugins selects the extractors.
type Plugins struct {
	Dir      string   `toml:"dir" kind:"path"` // folder of .wasm files, in addition to the built-in plugins
	Disabled []string `toml:"disabled"`        // ids of plugins that are turned off
}

// Defaults fills each field that is zero. To set a size or age to zero, do it afterwards.
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

// Sync is the exchange with the wearer's other devices.
type Sync struct {
	Relay  string `toml:"relay" kind:"url"` // http(s)://HOST[:PORT]; empty: nothing leaves this machine
	Vault  bool   `toml:"vault"`            // secrets are sent to the other devices, too
	Invite string `toml:"invite"`           // code that the relay requires for a new account
	LAN    bool   `toml:"lan"`              // exchange with the wearer's other devices in the same network
	// Snapshots is the number of deltas after which this device makes a new snapshot. A
	// number that is never reached means none.
	Snapshots Count `toml:"snapshots"`
	Compact   bool  `toml:"compact"` // have the relay delete what a verified snapshot covers

	// Interface is the only network interface on which to find them. Empty: every
	// interface that has multicast.
	Interface string `toml:"interface"`
	// Metered says whether the connection costs by the byte: "yes", "no", or "auto",
	// which asks NetworkManager. If it does, utterances and memories are sent; photos and
	// recordings wait.
	Metered Metered `toml:"metered"`
}
