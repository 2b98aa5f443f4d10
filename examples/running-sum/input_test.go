package main

import (
	"io"
	"strings"
	"testing"
)

func TestInputsAreRead(t *testing.T) {
	delimited, err := delimitedInputs([]byte("id;pad;value"), ';', "value", "id")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		decode  decoder
		message string
		value   int64
		id      string
		fails   string
	}{
		{jsonInputs("value", "id"), `{"id":"a","value":-7,"pad":"x"}`, -7, "a", ""},
		{jsonInputs("n", "key"), `{"key":"b","n":9007199254740993}`, 9007199254740993, "b", ""},
		{jsonInputs("value", "id"), `{"id":"a"}`, 0, "", `field "value"`},
		{jsonInputs("value", "id"), `{"value":1,"id":5}`, 0, "", `field "id"`},
		{jsonInputs("value", "id"), `{"value":1.5,"id":"a"}`, 0, "", `field "value"`},
		{jsonInputs("value", "id"), `nothing`, 0, "", "invalid"},
		{delimited, "a;x,y;12", 12, "a", ""},
		{delimited, `"a;b";x;12`, 12, "a;b", ""},
		{delimited, "a;12", 0, "", "2 fields"},
		{delimited, "a;x;twelve", 0, "", "invalid syntax"},
		{delimited, "", 0, "", "EOF"},
	} {
		got, err := c.decode([]byte(c.message))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v, want %q", c.message, err, c.fails)
			}
			continue
		}
		if err != nil || got.value != c.value || string(got.id) != c.id {
			t.Errorf("%q: %d %q, %v", c.message, got.value, got.id, err)
		}
	}
	if _, err := delimitedInputs([]byte("a,b"), ',', "value", "id"); err == nil {
		t.Error("a header without the columns was taken")
	}
}

func TestMisuseIsRefused(t *testing.T) {
	for _, args := range []string{"", "--in a", "--in a --out a", "--in a --out b c", "--in a --out b --format xml", "--in a --out b --delimiter ab", "--in a --out b --commit-interval 0s", "--in a --out b --create -1", "--nothing"} {
		if _, err := parse(io.Discard, strings.Fields(args)); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	cfg, err := parse(io.Discard, strings.Fields("--in a --out b --brokers h:1,i:2 --delimiter ;"))
	if err != nil || len(cfg.brokers) != 2 || cfg.delimiter != ';' || cfg.interval.Milliseconds() != 1000 {
		t.Errorf("%+v, %v", cfg, err)
	}
}
