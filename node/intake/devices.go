package intake

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/locket-dev/locket/node/intake/wire"
)

// Devices tells the embedded broker who may connect.
type Devices interface {
	// Lookup returns the hash that NewDevice made, and whether the device may
	// connect. For an unknown device it returns ("", false).
	Lookup(name string) (hash string, enabled bool)
}

// Credential is what a device needs to connect.
type Credential struct {
	Username  string   `json:"username"`  // the device's name, which is also its client id
	Password  string   `json:"password"`  // 26 characters, 130 bits
	Publish   []string `json:"publish"`   // topics
	Subscribe []string `json:"subscribe"` // topics
}

// NewDevice makes credentials for a device. The caller stores the hash. The
// password is shown once and stored nowhere.
func NewDevice(name string) (Credential, string, error) {
	if err := wire.CheckDevice(name); err != nil {
		return Credential{}, "", fmt.Errorf("new device: %w", err)
	}
	c := Credential{Username: name, Password: rand.Text(), Subscribe: []string{wire.AckTopic(name), wire.CmdTopic(name)}}
	for _, k := range wire.Kinds {
		c.Publish = append(c.Publish, wire.TopicOf(name, k))
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	return c, encodeHash(c.Password, salt), nil
}

// Parameters of argon2id. Among the equivalent choices in OWASP's password storage
// cheat sheet, this one needs the least memory, because the node may run on a small
// board.
const (
	argonTime   = 5
	argonMemory = 7 << 10 // KiB
	argonLanes  = 1
	argonKey    = 32
)

// encodeHash returns the PHC string $argon2id$v=19$m=…,t=…,p=…$salt$key.
func encodeHash(password string, salt []byte) string {
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonLanes, argonKey)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonLanes, b64(salt), b64(key))
}

// verifier checks passwords one at a time, so that many simultaneous attempts do
// not fill the memory of a small machine. It remembers passwords that were right,
// so that a device that reconnects costs nothing and does not wait.
type verifier struct {
	turn sync.Mutex // one computation at a time; never held with mu

	mu    sync.Mutex
	key   [32]byte            // of this process
	right map[string][32]byte // by device: MAC of hash and password
	wrong map[attempt]attempts
	now   func() time.Time
}

// attempt is a device and the address that tried its password. The address is part
// of it so that an attacker who guesses does not lock out others.
type attempt struct{ device, from string }

type attempts struct {
	n     int
	until time.Time
}

const (
	maxAttempts = 10 // a minute
	maxGuessers = 4096
)

func newVerifier() *verifier {
	v := &verifier{right: map[string][32]byte{}, wrong: map[attempt]attempts{}, now: time.Now}
	rand.Read(v.key[:])
	return v
}

func (v *verifier) check(device, hash string, password []byte, from string) bool {
	mac := hmac.New(sha256.New, v.key[:])
	fmt.Fprintf(mac, "%d:%s", len(hash), hash)
	mac.Write(password)
	sum := [32]byte(mac.Sum(nil))
	known, may := v.ask(device, sum, from)
	if known || !may || len(password) > 256 {
		return known
	}
	v.turn.Lock()
	right := matches(hash, password)
	v.turn.Unlock()
	if right {
		v.mu.Lock()
		v.right[device] = sum
		delete(v.wrong, attempt{device, from})
		v.mu.Unlock()
	}
	return right
}

// ask reports whether a password is known to be right. If not, it reports whether
// the password may be tried, and counts the attempt.
func (v *verifier) ask(device string, sum [32]byte, from string) (known, may bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.right[device]; ok && subtle.ConstantTimeCompare(r[:], sum[:]) == 1 {
		return true, true
	}
	now, key := v.now(), attempt{device, from}
	a, ok := v.wrong[key]
	if !ok && len(v.wrong) >= maxGuessers {
		clear(v.wrong) // then an attacker can make a few more guesses
	}
	if now.After(a.until) {
		a = attempts{until: now.Add(time.Minute)}
	}
	if a.n >= maxAttempts {
		return false, false
	}
	a.n++
	v.wrong[key] = a
	return false, true
}

func matches(hash string, password []byte) bool {
	p := strings.Split(hash, "$")
	if len(p) != 6 || p[1] != "argon2id" || p[2] != "v="+strconv.Itoa(argon2.Version) {
		return false
	}
	var memory, time uint32
	var lanes uint8
	if _, err := fmt.Sscanf(p[3], "m=%d,t=%d,p=%d", &memory, &time, &lanes); err != nil ||
		memory > 64<<10 || time == 0 || time > 16 || lanes == 0 {
		return false
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(p[4])
	want, err2 := base64.RawStdEncoding.DecodeString(p[5])
	if err1 != nil || err2 != nil || len(want) != argonKey {
		return false
	}
	got := argon2.IDKey(password, salt, time, memory, lanes, argonKey)
	return subtle.ConstantTimeCompare(got, want) == 1
}
