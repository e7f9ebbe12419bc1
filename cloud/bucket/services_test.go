package bucket

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/internal/testing/s3test"
	"github.com/locket-dev/locket/internal/testing/testservers"
)

// service is a place for blobs that a test can make fail.
type service struct {
	place  string // a URL that Open takes, with %s for the bucket
	answer func(func(http.ResponseWriter, *http.Request) bool)
	refuse func(w http.ResponseWriter, status int, code string) // answers with an error in the service's own format
	// The service's errors for: not allowed, and no room.
	forbidden, full refusal
	strange         func(*testing.T) service // the same service with another key; nil if it checks none
	mustHaveSeen    func()                   // checks that the test has exercised the service
}

type refusal struct {
	status int
	code   string
}

func (r refusal) always(s service) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool { s.refuse(w, r.status, r.code); return true }
}

// services has a function to start each service, with an empty bucket named "bucket". It sets what
// a client reads from the environment.
var services = map[string]func(*testing.T) service{
	"s3":     func(t *testing.T) service { return amazon(t, false) },
	"gs":     google,
	"azblob": func(t *testing.T) service { return azure(t, azureKey) },
}

func amazon(t *testing.T, other bool) service {
	s := s3test.New(t)
	if other {
		s.Other()
	}
	return service{place: "s3://%s?region=eu-central-1&use_path_style=true&endpoint=" + s.URL, answer: s.Front, refuse: s3test.Refusal,
		forbidden: refusal{403, "AccessDenied"}, full: refusal{403, "QuotaExceeded"},
		strange:      func(t *testing.T) service { return amazon(t, true) },
		mustHaveSeen: func() { s.MustHaveSeen("PUT", "GET", "DELETE", "list", "multipart", "range") }}
}

func google(t *testing.T) service {
	f := testservers.Google(t, "bucket")
	t.Setenv("STORAGE_EMULATOR_HOST", f.Listener.Addr().String())
	return service{place: "gs://%s", answer: f.Answer, refuse: func(w http.ResponseWriter, status int, code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":%q,"errors":[{"domain":"global","reason":%q,"message":%q}]}}`, status, code, code, code)
	}, forbidden: refusal{403, "forbidden"}, full: refusal{507, "insufficientStorage"}}
}

const azureAccount = "locketaccount"

var azureKey, anotherKey = key("a key that both sides know"), key("a key that one side knows")

func key(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func azure(t *testing.T, known string) service {
	f := testservers.Azure(t, azureAccount, known)
	t.Setenv("AZURE_STORAGE_ACCOUNT", azureAccount)
	t.Setenv("AZURE_STORAGE_KEY", azureKey)
	as, err := container.NewSharedKeyCredential(azureAccount, known)
	if err != nil {
		t.Fatal(err)
	}
	c, err := container.NewClientWithSharedKeyCredential(f.URL+"/"+azureAccount+"/bucket", as, nil)
	if err == nil {
		_, err = c.Create(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return service{place: "azblob://%s?protocol=http&localemu=true&domain=" + f.Listener.Addr().String(), answer: f.Answer,
		refuse: func(w http.ResponseWriter, status int, code string) {
			w.Header().Set("Content-Type", "application/xml")
			w.Header().Set("x-ms-error-code", code)
			w.WriteHeader(status)
			fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`, code, code)
		}, forbidden: refusal{403, "AuthorizationFailure"}, full: refusal{507, "InsufficientStorage"},
		strange: func(t *testing.T) service { return azure(t, anotherKey) }}
}

// each runs a test with every service.
func each(t *testing.T, test func(*testing.T, service)) {
	for name, start := range services {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

// open returns the service's objects, with a test's patience.
func (s service) open(t *testing.T, bucketName string, wait time.Duration) objects.Objects {
	t.Helper()
	o, err := Open(t.Context(), fmt.Sprintf(s.place, bucketName))
	if err != nil {
		t.Fatal(err)
	}
	o.(*bucket).patience = wait
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}
