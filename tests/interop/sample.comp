#version 450
// Samples a level of an image at the corners between four texels, with the sampler's filter.
layout(local_size_x = 1) in;
layout(binding = 0) uniform sampler2D image;
layout(binding = 1) writeonly buffer Out { vec4 colours[]; };
layout(push_constant) uniform Level { int level; };

void main()
{
    ivec2 size = textureSize(image, level);
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    colours[at.y * size.x + at.x] = textureLod(image, (vec2(at) + 1.0) / vec2(size), float(level));
}
