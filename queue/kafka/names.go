package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"queuebench/internal/nearest"
	"queuebench/internal/secret"
)

// setting is a name of librdkafka's, or of the Java client's where that differs.
type setting struct {
	names  []string // the first is the one that documents use
	what   string   // for docs/kafka.md: values, unit, default
	secret bool     // its value is never told
	group  bool     // it is of a consumer group, which needs a group.id
	set    func(s *Settings, value string) error
}

// Set sets what a name of librdkafka's means. warning says that the name is
// known and means nothing to this client. No error holds a secret's value.
func (s *Settings) Set(name, value string) (warning string, err error) {
	for _, k := range known {
		if !slices.Contains(k.names, name) {
			continue
		}
		if err := k.set(s, value); err != nil {
			switch {
			case errors.Is(err, errUserinfo):
				return "", fmt.Errorf("kafka: %s: %w", name, err)
			case k.secret:
				return "", fmt.Errorf("kafka: %s: its value is not valid", name)
			}
			return "", fmt.Errorf("kafka: %s=%s: %w", name, value, err)
		}
		return "", nil
	}
	if slices.Contains(without, name) {
		return fmt.Sprintf("the Kafka setting %s has no effect: this client has nothing like it", name), nil
	}
	return "", fmt.Errorf("kafka: there is no setting %q%s", name, nearest.DidYouMean(name, knownNames()))
}

// IsSecret tells whether the value of a name must not be told, also of one that
// this client does not know.
func IsSecret(name string) bool {
	return strings.Contains(strings.ToLower(name), "jaas") || secret.NamesSecret(name) || slices.ContainsFunc(known, func(k setting) bool { return k.secret && slices.Contains(k.names, name) })
}

// OfGroup tells whether a name is a setting of consumer groups.
func OfGroup(name string) bool {
	return slices.ContainsFunc(known, func(k setting) bool { return k.group && slices.Contains(k.names, name) })
}

func knownNames() (all []string) {
	for _, k := range known {
		all = append(all, k.names...)
	}
	return append(all, without...)
}

// The kinds of values.

func text(at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error { *at(s) = v; return nil }
}

func hiddenText(at func(*Settings) *secret.Text) func(*Settings, string) error {
	return func(s *Settings, v string) error { *at(s) = secret.Of(v); return nil }
}

func oneOf(at func(*Settings) *string, values ...string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		for _, known := range values {
			if strings.EqualFold(v, known) {
				*at(s) = known
				return nil
			}
		}
		return fmt.Errorf("say %s%s", strings.Join(values, ", "), nearest.DidYouMean(v, values))
	}
}

func truth(at func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, v string) (err error) {
		switch strings.ToLower(v) {
		case "true", "t", "1":
			*at(s) = true
		case "false", "f", "0":
			*at(s) = false
		default:
			err = fmt.Errorf("say true or false")
		}
		return err
	}
}

func number[N int | int32 | int64](at func(*Settings) *N, least, most int64) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Errorf("it is a number from %d to %d", least, most)
		}
		*at(s) = N(n)
		return nil
	}
}

// millis reads milliseconds, with a fraction where the name allows one.
func millis(at func(*Settings) *time.Duration, least, most float64) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= least && n <= most) {
			return fmt.Errorf("it is a number of milliseconds from %v to %.0f", least, most)
		}
		*at(s) = time.Duration(n * float64(time.Millisecond))
		return nil
	}
}
