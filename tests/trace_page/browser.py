# SPDX-License-Identifier: MIT
"""Drives a headless Chromium through the DevTools protocol, over two pipes and without a library.

    with Browser(1280, 800) as page:
        page.open('file:///…/page.html')
        page.evaluate('1 + 1')
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome')
KEYS = {
    'Enter': (13, '\r'), 'Escape': (27, ''), 'ArrowLeft': (37, ''), 'ArrowUp': (38, ''),
    'ArrowRight': (39, ''), 'ArrowDown': (40, ''), 'Tab': (9, ''),
}


def find_browser():
    """The browser's path, or None."""
    return os.environ.get('CARDLESS_CHROMIUM') or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, width, height, dark=False, timeout=60):
        self.width, self.height, self.dark, self.timeout = width, height, dark, timeout
        self.number, self.session, self.buffer, self.errors = 0, None, b'', []

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix='cardless-browser-')
        to_browser, self.to = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes():  # Chromium reads from 3 and writes to 4
            ends = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(end, 100 + i) for i, end in enumerate(ends)]
            for i, end in enumerate(high):
                os.dup2(end, 3 + i)

        self.process = subprocess.Popen(
            [find_browser(), '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
             '--disable-dev-shm-usage', '--disable-extensions', '--hide-scrollbars',
             '--disable-background-networking', '--disable-component-update', '--mute-audio',
             '--remote-debugging-pipe', f'--user-data-dir={self.folder.name}', 'about:blank'],
            close_fds=False, preexec_fn=place_pipes, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        targets = self.send('Target.getTargets')['targetInfos']
        target = next(t['targetId'] for t in targets if t['type'] == 'page')
        attached = self.send('Target.attachToTarget', targetId=target, flatten=True)
        self.session = attached['sessionId']
        self.send('Page.enable')
        self.send('Runtime.enable')
        self.resize(self.width, self.height)
        self.set_dark(self.dark)
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.send('Browser.close')
        except (OSError, RuntimeError):
            pass
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        self.folder.cleanup()

    def message(self, end):
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, end - time.monotonic()))
            chunk = os.read(self.read_end, 1 << 20) if ready else b''
            if not chunk:
                raise RuntimeError('no answer from the browser')
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(text)

    def note(self, message):
        """Keeps errors that the page did not catch."""
        if message.get('method') == 'Runtime.exceptionThrown':
            details = message['params']['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description', details['text']))

    def send(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        end = time.monotonic() + self.timeout
        while True:
            answer = self.message(end)
            self.note(answer)
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']

    def resize(self, width, height):
        self.send('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def set_dark(self, dark):
        self.send('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'},
            {'name': 'prefers-reduced-motion', 'value': 'reduce'}])

    def open(self, url):
        self.send('Page.navigate', url=url)
        end = time.monotonic() + self.timeout
        while self.evaluate('document.readyState') != 'complete':
            if time.monotonic() > end:
                raise RuntimeError(f'{url} does not load')
            time.sleep(0.02)
        self.settle()

    def evaluate(self, expression):
        answer = self.send('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise RuntimeError(details.get('exception', {}).get('description', details['text']))
        return answer['result'].get('value')

    def settle(self):
        """Waits until the page has drawn what it has to draw."""
        self.evaluate('new Promise(done => requestAnimationFrame(() => '
                      'requestAnimationFrame(() => done(1))))')

    def mouse(self, kind, x, y, **more):
        self.send('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.settle()

    def click(self, x, y, count=1):
        self.mouse('mouseMoved', x, y)
        for n in range(1, count + 1):
            self.mouse('mousePressed', x, y, button='left', clickCount=n)
            self.mouse('mouseReleased', x, y, button='left', clickCount=n)
        self.settle()

    def drag(self, x0, y0, x1, y1, modifiers=0):
        self.mouse('mouseMoved', x0, y0)
        self.mouse('mousePressed', x0, y0, button='left', clickCount=1, modifiers=modifiers)
        self.mouse('mouseMoved', (x0 + x1) / 2, (y0 + y1) / 2, button='left', modifiers=modifiers)
        self.mouse('mouseMoved', x1, y1, button='left', modifiers=modifiers)
        self.mouse('mouseReleased', x1, y1, button='left', clickCount=1, modifiers=modifiers)
        self.settle()

    def wheel(self, x, y, by):
        self.mouse('mouseWheel', x, y, deltaX=0, deltaY=by)
        self.settle()

    def key(self, name):
        code, text = KEYS.get(name, (ord(name[0].upper()), name))
        more = {'text': text} if text else {}
        self.send('Input.dispatchKeyEvent', type='keyDown', key=name,
                  windowsVirtualKeyCode=code, **more)
        self.send('Input.dispatchKeyEvent', type='keyUp', key=name, windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text):
        self.send('Input.insertText', text=text)
        time.sleep(0.12)
        self.settle()

    def screenshot(self, path=None):
        """The page as PNG; it is also written to `path`."""
        data = base64.b64decode(self.send('Page.captureScreenshot', format='png')['data'])
        if path:
            with open(path, 'wb') as f:
                f.write(data)
        return data

    def screenshot_part(self, clip):
        """A part of the page as PNG; `scale` of the clip may make it smaller."""
        return base64.b64decode(self.send('Page.captureScreenshot', format='png',
                                          clip=clip)['data'])
