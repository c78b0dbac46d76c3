"""A short sound when a run begins to wait for a decision, for those who switched it on."""

from nicegui import ui

from app.store.records.tables import PreferencesStore
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.notices import problems_shown

_CHIME = """<script>
  // Two soft tones, made here. Several tabs hear of a pause within a second: the first of them is enough.
  window.chime = () => {
    if (Date.now() - Number(localStorage.getItem("chimed")) < 1500) return;
    localStorage.setItem("chimed", Date.now());
    const audio = new AudioContext();
    [660, 880].forEach((pitch, index) => {
      const tone = audio.createOscillator(), volume = audio.createGain(), start = audio.currentTime + index * 0.16;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.0001, start);
      volume.gain.exponentialRampToValueAtTime(0.12, start + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.3);
      tone.connect(volume).connect(audio.destination);
      tone.start(start);
      tone.stop(start + 0.32);
      if (index) tone.onended = () => audio.close();
    });
  };
</script>"""


class PauseSound:
    """The switch, and the sound; browsers play none in a tab that nobody has clicked in yet."""

    def __init__(self, preferences: PreferencesStore) -> None:
        self._preferences = preferences
        ui.add_body_html(_CHIME)
        place = ui.html(sanitize=False).classes("sound-switch")
        self._switch = on_click_of(place, "sound", lambda _: self.turn())
        self._show()

    def play(self) -> None:
        """Let it be heard if it is on."""
        if self._preferences.get().pause_sound:
            self._switch.client.run_javascript("chime()")

    async def turn(self) -> None:
        """Switch it on, which lets it be heard once, or off."""
        before = self._preferences.get()
        with problems_shown():
            await self._preferences.save(before.model_copy(update={"pause_sound": not before.pause_sound}))
            self._show()
            refocus(self._switch, "[role=switch]")
            self.play()

    def _show(self) -> None:
        self._switch.set_content(sound_switch(on=self._preferences.get().pause_sound))


def sound_switch(*, on: bool) -> Html:
    """The switch in the navigation."""
    words = "Play a sound when a run begins to wait for your decision"
    return tag(
        "button",
        icon("notifications_active" if on else "notifications_off", "faint"),
        tag("span", "Pause sound", cls="truncate grow"),
        tag("span", cls="switch", aria_hidden="true"),
        type="button",
        role="switch",
        cls="tool-switch",
        title=words,
        aria_checked="true" if on else "false",
        aria_label=words,
        data_sound=True,
        data_testid="pause-sound",
    )
