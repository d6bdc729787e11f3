// SPDX-License-Identifier: GPL-3.0-or-later
// The endpoint's live page in a browser, of a program that is observed meanwhile.
#include "tests/cli/browser.h"
#include "tests/cli/live_auger.h"

#include <filesystem>
#include <regex>

namespace auger::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

class LivePage : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!IsSkipped() && !Browser::installed())
            GTEST_SKIP() << "chromium is not installed";
        std::filesystem::create_directories(AUGER_PICTURES_DIR);
    }
    static std::string picture(const std::string& name) {
        return std::string(AUGER_PICTURES_DIR) + "/" + name + ".png";
    }
    static std::string url_of(LiveAuger& auger) {
        const std::string said = auger.ask("serve 127.0.0.1:0")["message"];
        return said.substr(said.rfind(' ') + 1);
    }
    static std::string quoted(const std::string& text) { return json(text).dump(); }
    static std::string text_of(Browser& browser, const std::string& selector) {
        return browser.evaluate("document.querySelector(" + quoted(selector) + ").textContent");
    }
    static void click(Browser& browser, const std::string& selector) {
        browser.evaluate("document.querySelector(" + quoted(selector) + ").click()");
    }
    static void press(Browser& browser, const std::string& key) {
        browser.evaluate(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: " +
            quoted(key) + ", bubbles: true, cancelable: true}))");
    }
};

TEST_F(LivePage, IsLookedAtAndClickedThrough) {
    Program service("demo_service", {"--seconds", "300"});
    service.wait_ready();
    LiveAuger auger({"-p", std::to_string(service.pid())});
    auger.run({"sample wall 499", "split handle_request > p95", "slow handle_request > p95",
               "wait until slow handle_request >= 3 for 60s"});
    const std::string url = url_of(auger);
    Browser browser;
    browser.resize(1280, 900);
    browser.prefer("light");
    browser.open(url);
    ASSERT_TRUE(browser.wait_for("document.body?.dataset.frames > 8"))
        << browser.evaluate("document.documentElement.outerHTML");
    // The token does not stay where others read it.
    EXPECT_THAT(browser.evaluate("location.href").get<std::string>(), Not(HasSubstr("token")));
    ASSERT_TRUE(browser.wait_for("document.body.dataset.connection === 'live'"));
    EXPECT_EQ(text_of(browser, "#target"), "demo_service");
    EXPECT_THAT(text_of(browser, "#status"), AllOf(HasSubstr("499 Hz"), HasSubstr("samples"),
                                                   HasSubstr("lost"), HasSubstr("overhead")));

    // What comes is shown without anybody asking.
    browser.evaluate("window.before = document.querySelector('#status').textContent");
    EXPECT_TRUE(browser.wait_for("document.querySelector('#status').textContent !== before"));

    // A class.
    ASSERT_TRUE(browser.wait_for("document.querySelector('#classes [data-class=slow]')"));
    click(browser, "#classes [data-class=slow]");
    ASSERT_TRUE(browser.wait_for("document.body.dataset.class === 'slow'"));
    EXPECT_THAT(text_of(browser, "#details"), HasSubstr("of slow"));
    EXPECT_EQ(
        browser.evaluate(
            "document.querySelector('#classes [data-class=slow]').getAttribute('aria-pressed')"),
        "true");

    // Zoom by keys, and back.
    browser.evaluate("document.querySelector('#flame').focus()");
    for (const char* key : {"ArrowDown", "ArrowDown", "Enter"})
        press(browser, key);
    EXPECT_EQ(browser.evaluate("document.querySelector('#reset').disabled"), false);
    press(browser, "Escape");
    EXPECT_EQ(browser.evaluate("document.querySelector('#reset').disabled"), true);

    // Search.
    press(browser, "/");
    EXPECT_EQ(browser.evaluate("document.activeElement.id"), "search");
    browser.evaluate("{ const search = document.activeElement; search.value = 'handle_request'; "
                     "search.dispatchEvent(new Event('input')); }");
    EXPECT_THAT(text_of(browser, "#found"), MatchesRegex("[1-9][0-9.]* % found"));

    // Slow calls, and one of them.
    ASSERT_TRUE(browser.wait_for("document.querySelectorAll('#panel tbody tr').length >= 3"));
    click(browser, "#panel tbody tr");
    ASSERT_TRUE(browser.wait_for("document.querySelector('#call')"));
    EXPECT_THAT(text_of(browser, "#call"),
                AllOf(HasSubstr("handle_request"), HasSubstr("on the CPU"), HasSubstr("Values")));
    EXPECT_THAT(text_of(browser, "#call .stack"), HasSubstr("handle_request"));
    browser.take_picture(picture("calls_light"));

    // The other panels.
    browser.prefer("dark");
    for (const auto& [panel, shown] :
         {std::pair{"diff", "tbody tr"}, {"histogram", "canvas"}, {"top", "tbody tr"}}) {
        click(browser, std::string("[data-panel=") + panel + "]");
        EXPECT_TRUE(browser.wait_for(std::string("document.body.dataset.panel === '") + panel +
                                     "' && document.querySelector('#panel " + shown + "')"))
            << panel << text_of(browser, "#panel");
        browser.take_picture(picture(std::string(panel) + "_dark"));
    }
    browser.resize(420, 800);
    EXPECT_TRUE(browser.wait_for("document.documentElement.scrollWidth <= 420"));
    browser.take_picture(picture("narrow_dark"));
    EXPECT_THAT(browser.troubles(), IsEmpty());

    // It says so when auger has ended what it asks.
    auger.run({"serve off"});
    EXPECT_TRUE(browser.wait_for("document.body.dataset.connection === 'lost'"));
}

// A program may be called anything.
TEST_F(LivePage, NamesAreTextWhateverTheySay) {
    const std::string path = folder_.path("<img src=x onerror=document.title='owned'>");
    std::filesystem::copy_file(program_path("demo_service"), path);
    Program service(path, {"--seconds", "300"});
    service.wait_ready();
    LiveAuger auger({"-p", std::to_string(service.pid())});
    auger.run({"sample 999", "wait until samples >= 100 for 60s"});
    Browser browser;
    browser.open(url_of(auger));
    ASSERT_TRUE(browser.wait_for("document.body?.dataset.frames > 3"));
    click(browser, "[data-panel=top]");
    ASSERT_TRUE(
        browser.wait_for("document.querySelector('#panel')?.textContent.includes('onerror=')"));
    EXPECT_THAT(text_of(browser, "#target"), HasSubstr("<img src=x"));
    EXPECT_EQ(browser.evaluate("document.querySelectorAll('img, iframe, body script').length"), 0);
    EXPECT_THAT(browser.evaluate("document.title").get<std::string>(), Not(HasSubstr("owned")));
    browser.take_picture(picture("hostile"));
    EXPECT_THAT(browser.troubles(), IsEmpty());
}

TEST_F(LivePage, SaysWhatToDo) {
    Program service("demo_service", {"--seconds", "300"});
    service.wait_ready();
    LiveAuger auger({"-p", std::to_string(service.pid())});
    const std::string url = url_of(auger);
    Browser browser;
    browser.open(url);
    ASSERT_TRUE(browser.wait_for("document.body?.dataset.connection === 'live'"));
    EXPECT_TRUE(browser.wait_for(
        "document.querySelector('#flame-empty').textContent.includes('sample 999')"));
    EXPECT_TRUE(
        browser.wait_for("document.querySelector('#panel').textContent.includes('slow FUNCTION')"));
    click(browser, "[data-panel=histogram]");
    EXPECT_TRUE(
        browser.wait_for("document.querySelector('#panel').textContent.includes('time FUNCTION')"));
    browser.take_picture(picture("empty"));
    // Without a token it says where there is one.
    browser.evaluate("sessionStorage.clear()");
    browser.open(url.substr(0, url.rfind('/') + 1));
    EXPECT_TRUE(browser.wait_for("document.body?.dataset.connection === 'refused'"));
    EXPECT_THAT(text_of(browser, "#status"), HasSubstr("a token is needed"));
}

} // namespace
} // namespace auger::test
